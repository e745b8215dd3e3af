/**
 * How a completion is answered: through a session (durable, like any message), or stateless.
 *
 * A stateless call names neither a session nor a user. It keeps none: the conversation it sends is put into a session in
 * memory that ends with the call, so nothing is listed and nothing is left of it in the home but the record of actions.
 */
import { type Agent, type Message, type ModelDelta, type TurnItem, turn } from "@holdfast/agent";
import { isMessage, memorySessions, type NewEntry, type Session } from "@holdfast/sessions";
import { GatewayError } from "../errors.ts";
import type { HttpParts } from "../http/server.ts";
import type { WireEvent } from "../wire/index.ts";
import { type ChatMessage, textOf } from "./shapes.ts";

export interface Answered {
  readonly text: string;
  readonly entryId: string;
  /** The usage of each model answer, as the transcript keeps it. */
  readonly usages: readonly unknown[];
}

/** Told of provisional text. `withdrawn`: what was told of this answer does not count. */
export interface Telling {
  delta(answerId: string, delta: ModelDelta): void;
  withdrawn(answerId: string): void;
}

export interface CallOptions {
  readonly messages: readonly ChatMessage[];
  readonly signal: AbortSignal;
  readonly telling: Telling;
}

function lastUserText(messages: readonly ChatMessage[]): string {
  const last = messages.at(-1);
  const text = last?.role === "user" ? textOf(last) : "";
  if (text.trim() !== "") return text;
  throw new GatewayError("bad_request", { why: "messages: the last one must be from the user and hold text" });
}

/** The last message goes into the session's lane; the session has the rest. */
export async function answerInSession(
  call: CallOptions & { readonly sessionKey: string; readonly clientKey: string | null },
  agent: Agent,
  { hub, post }: HttpParts,
): Promise<Answered> {
  const { sessionKey, clientKey, signal, telling } = call;
  const ours = ofItem(telling);
  using _heard = hub.listen(sessionKey, null, (_id, event) => ours.hear(event));
  const text = lastUserText(call.messages);
  const posted = await post({
    sessionKey,
    text,
    clientKey,
    mode: "followup",
    literal: true,
    wait: true,
    signal,
    accepted: ours.know,
  });
  if (posted.kind === "refused") throw new GatewayError(posted.code, posted.details);
  if (posted.kind === "accepted") throw new GatewayError("in_flight");
  const { answer, entryId } = posted.answer;
  if (entryId === null) throw new GatewayError("turn_failed", { text: answer });
  await using session = await agent.sessions.open(sessionKey);
  return { text: answer, entryId, usages: usagesBefore(session, entryId) };
}

/** A session streams the answers to all of its messages: only those to one item are told. What comes before the item is known is kept. */
function ofItem(telling: Telling): { hear(event: WireEvent): void; know(itemId: string): void } {
  const early: WireEvent[] = [];
  const item: { id: string | null } = { id: null };
  const hear = (event: WireEvent): void => {
    if (event.type !== "delta" && event.type !== "withdrawn") return;
    if (item.id === null) early.push(event);
    else if (event.itemId !== item.id) return;
    else if (event.type === "delta") telling.delta(event.answerId, event.delta);
    else telling.withdrawn(event.answerId);
  };
  return {
    hear,
    know(itemId) {
      item.id = itemId;
      for (const event of early.splice(0)) hear(event);
    },
  };
}

/** From the answer back to the message it answers. */
function usagesBefore(session: Session, entryId: string): readonly unknown[] {
  const path = session.path();
  const end = path.findIndex((entry) => entry.id === entryId);
  const usages: unknown[] = [];
  for (const entry of path.slice(0, end + 1).reverse()) {
    if (!isMessage(entry)) continue;
    const message = entry.message as { readonly role?: unknown; readonly usage?: unknown };
    if (message.role === "user") break;
    if (message.role === "assistant") usages.push(message.usage ?? null);
  }
  return usages;
}

export async function answerStateless(call: CallOptions, agent: Agent, { world }: HttpParts): Promise<Answered> {
  const sessionKey = `agent:${agent.id}:openai:direct:${world.newId("item")}`;
  const text = lastUserText(call.messages);
  await using sessions = memorySessions(world);
  await using session = await sessions.open(sessionKey);
  const history = call.messages.slice(0, -1).flatMap((message) => historyEntry(message, world.nowMs()));
  if (history.length > 0) await session.append(history);
  const outcome = await turn(
    statelessItem(sessionKey, text, world.nowMs()),
    statelessAgent(agent, sessions, call),
    call.signal,
  );
  if (outcome.kind === "replied")
    return { text: outcome.text, entryId: outcome.entryId, usages: usagesBefore(session, outcome.entryId) };
  if (outcome.kind === "stopped") {
    const { text: said, failure } = outcome;
    throw new GatewayError("turn_failed", { text: said, ...(failure === undefined ? {} : { why: failure }) });
  }
  if (outcome.kind !== "retry")
    throw new GatewayError("turn_failed", { text: "The model could not answer: somebody else is at work. Try again." });
  const { failure, delayMs } = outcome;
  const said = `The model could not answer: ${failure.message} Try again.`;
  throw new GatewayError("turn_failed", { text: said, why: failure.code, retryAfterMs: delayMs });
}

function statelessItem(sessionKey: string, text: string, nowMs: number): TurnItem {
  const address = { channel: "openai", account: "local", chat: sessionKey, thread: null };
  const from = { id: "owner", name: null, owner: true };
  const message: Message = { key: `openai:local:${sessionKey}:1`, text, from, address, receivedMs: nowMs };
  return { id: sessionKey, sessionKey, message, start: null, attempt: 1 };
}

/** The same agent over sessions in memory; there is no lane, so its ports have nothing to do. */
function statelessAgent(agent: Agent, sessions: Agent["sessions"], { telling }: CallOptions): Agent {
  return {
    ...agent,
    sessions,
    observe(_sessionKey, observation) {
      if (observation.kind === "delta") telling.delta(observation.answerId, observation.delta);
      if (observation.kind === "withdrawn") telling.withdrawn(observation.answerId);
    },
    began: async () => {},
    arrived: async () => ({ stop: null, joined: [], steer: [], collect: [] }),
    join: async () => false,
    charge: async () => true,
    tell: async () => false,
    finish: async () => {},
  };
}

/** Instructions become a message of the context, the client's other turns what they are; tool messages are left out. */
function historyEntry(message: ChatMessage, nowMs: number): NewEntry[] {
  const text = textOf(message);
  const content = [{ type: "text", text }];
  if (text === "" || message.role === "tool") return [];
  if (message.role === "system" || message.role === "developer")
    return [{ type: "custom_message", customType: "openai:instructions", content, display: false }];
  if (message.role === "user") return [{ type: "message", message: { role: "user", content, timestamp: nowMs } }];
  const by = { api: "openai-completions", provider: "client", model: "client", usage: NO_USAGE };
  return [{ type: "message", message: { role: "assistant", content, ...by, stopReason: "stop", timestamp: nowMs } }];
}

const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
const NO_USAGE = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: NO_COST };
