/**
 * Segment 2 of 3, seen from the lane: one claimed message is given to the agent, and its outcome decides what becomes of
 * the item. The agent's three ports into the lane (began, charge, finish) are here as well.
 *
 * Invariant: an accepted message ends answered or visibly failed. Waiting for others and a graceful stop cost no attempt;
 * a fault does, so that a message that breaks every attempt fails visibly instead of for ever.
 */
import {
  type Address,
  type Agent,
  AgentError,
  type ApprovalRequest,
  type TurnEnd,
  type TurnItem,
  type TurnOutcome,
  turn,
} from "@holdfast/agent";
import { assertNever, CodedError, messageOf as whyOf, type World } from "@holdfast/base";
import { isMessage } from "@holdfast/sessions";
import { isChinese } from "./language.ts";
import { askText, carryOut } from "./orders.ts";
import { arrived } from "./queue/arrived.ts";
import type { RunningTurns } from "./queue/running.ts";
import { split, spoken } from "./split.ts";
import { controlOf, type Ending, json, messageOf, notice, outItem, turnItem } from "./bodies.ts";
import { backoffMs, charged, refunded, waitedMs } from "./budget.ts";
import type { Change, ItemPatch, LaneItem, LaneStore } from "./lanes.ts";
import type { Log } from "./log.ts";
import type { After } from "./runner.ts";

export interface TurnsOptions {
  readonly store: LaneStore;
  readonly holder: string;
  readonly world: World;
  readonly log: Log;
  /** Longest time of one turn, and of waiting for somebody else's. */
  readonly timeoutMs: (sessionKey: string) => number;
  readonly running: RunningTurns;
  /** Longest text of one message on a channel, in UTF-16 units. */
  textMax?(channel: string): number | undefined;
  /** The agent of a session key; undefined when it is not configured any more. */
  agent(sessionKey: string): Agent | undefined;
  /** Told after an item changed: clients see it, waiters wake. Must not throw. */
  changed(itemId: string): void;
  /** Rings the outbound lane. */
  wakeOut(): void;
}

export type Turns = Required<Pick<Agent, "began" | "arrived" | "join" | "charge" | "finish" | "tell">> & {
  work(item: LaneItem, signal: AbortSignal): Promise<After>;
  failed(item: LaneItem, error: unknown): Promise<After>;
};

const SETTLED: After = { kind: "settled" };

export function createTurns(options: TurnsOptions): Turns {
  const { store, holder, world } = options;
  return {
    async began(item, start) {
      const noted = await store.commit(holder, [{ kind: "note", id: item.id, patch: { start } }], world.nowMs());
      if (!noted) throw new AgentError("right_lost", { session: item.sessionKey });
    },
    arrived: (item) => arrived(item, store),
    join: (item, joining, start) =>
      store.commit(
        holder,
        joining.map(({ id }) => ({ kind: "join", id, into: item.id, start })),
        world.nowMs(),
      ),
    charge: (item) => charge(options, item),
    tell: (item, what) => tell(options, item, what),
    finish: (item, end) => finish(options, item, end),
    work: (item, signal) => work(options, item, signal),
    failed: (item, error) => faulted(options, item, error),
  };
}

async function work(options: TurnsOptions, item: LaneItem, stop: AbortSignal): Promise<After> {
  const agent = options.agent(item.queue);
  if (agent === undefined)
    return giveUp(options, item, { code: "no_agent", text: "This conversation's agent is not configured any more." });
  options.changed(item.id);
  const control = controlOf(item);
  if (control !== null) return carryOut(item, control, { ...options, agent, signal: stop });
  const timeoutMs = options.timeoutMs(item.queue);
  using entered = options.running.enter(item.queue);
  using clock = limit(
    options.world,
    timeoutMs,
    new AgentError("timed_out", { session: item.queue, seconds: timeoutMs / 1000 }),
  );
  const signal = AbortSignal.any([stop, entered.signal, clock.signal]);
  const outcome = await Promise.race([turn(turnItem(item), agent, signal), clock.deadEnd]);
  return after(options, item, { outcome, stopped: stop.aborted, timeoutMs });
}

/** How long a turn may take to end after its time is over; then its lane goes on without it. */
const UNWIND_MS = 30_000;

/** Aborts when the time is over; `deadEnd` ends a turn that does not end by itself. */
function limit(world: World, timeoutMs: number, reason: Error) {
  const over = new AbortController();
  const late = new AbortController();
  const deadEnd = world.sleep(timeoutMs, over.signal).then(async (): Promise<TurnOutcome> => {
    late.abort(reason);
    await world.sleep(UNWIND_MS, over.signal);
    return { kind: "stopped", code: "turn_timeout", entryId: null, text: "" };
  });
  deadEnd.catch(() => undefined);
  return { signal: late.signal, deadEnd, [Symbol.dispose]: () => over.abort() };
}

interface Ended {
  readonly outcome: TurnOutcome;
  readonly stopped: boolean;
  readonly timeoutMs: number;
}

async function after(options: TurnsOptions, item: LaneItem, ended: Ended): Promise<After> {
  const { outcome, timeoutMs } = ended;
  switch (outcome.kind) {
    case "replied":
      return SETTLED;
    case "busy":
      return waitForOthers(options, item, timeoutMs);
    case "waiting":
      return park(options, item, outcome.approvals);
    case "retry":
      return { kind: "again", delayMs: outcome.delayMs };
    case "stopped":
      return stopped(options, item, ended, outcome);
    default:
      return assertNever(outcome);
  }
}

type Stopped = Extract<TurnOutcome, { kind: "stopped" }>;

async function stopped(options: TurnsOptions, item: LaneItem, ended: Ended, outcome: Stopped): Promise<After> {
  if (outcome.code === "stale_turn") return waitForOthers(options, item, ended.timeoutMs);
  if (outcome.code === "turn_timeout" && outcome.entryId === null) {
    const seconds = ended.timeoutMs / 1000;
    const text = `I stopped: this took longer than ${seconds} s (agents.defaults.timeout). Send it again.`;
    return giveUp(options, item, { code: "turn_timeout", text });
  }
  if (outcome.code !== "cancelled") return giveUp(options, item, outcome);
  if (ended.stopped) {
    await refund(options, item);
    return { kind: "again", delayMs: 0 };
  }
  return { kind: "again", delayMs: backoffMs(1) };
}

/** Out of the way until somebody has decided, uncharged; the sender is asked. */
async function park(options: TurnsOptions, item: LaneItem, approvals: readonly ApprovalRequest[]): Promise<After> {
  const { store, holder, world } = options;
  const { address, text } = messageOf(item);
  const asked = askText(approvals, { chinese: isChinese(text), nowMs: world.nowMs() });
  const known = (await store.get(item.id)) ?? item;
  const changes: Change[] = [
    { kind: "note", id: item.id, patch: known.attempts > item.attempts ? refunded(known) : {} },
    { kind: "park", id: item.id, result: json({ approvals, text: asked }) },
    { kind: "enqueue", item: notice(approvals[0]?.id ?? item.id, address, asked) },
  ];
  await store.commit(holder, changes, world.nowMs());
  options.changed(item.id);
  options.wakeOut();
  return SETTLED;
}

/** Somebody else works on this session or action: later, uncharged, and not for ever. */
async function waitForOthers(options: TurnsOptions, item: LaneItem, timeoutMs: number): Promise<After> {
  await refund(options, item);
  const waits = Math.max(1, item.claims - item.attempts);
  if (waitedMs(waits) < timeoutMs) return { kind: "again", delayMs: backoffMs(waits) };
  const text = "Somebody else has been working on this conversation all the time. Send it again later.";
  return giveUp(options, item, { code: "session_busy", text });
}

/** Takes back what this claim was charged, if it was. */
async function refund(options: TurnsOptions, item: LaneItem): Promise<void> {
  const now = await options.store.get(item.id);
  if (now !== undefined && now.attempts > item.attempts) await noteAttempts(options, item, refunded(now));
}

/** A claim that is lost is no budget that is used up: whoever has it now may have answered, so nothing is written here. */
async function charge(options: TurnsOptions, item: TurnItem): Promise<boolean> {
  const known = await options.store.get(item.id);
  const patch = known === undefined ? {} : charged(known, await progressOf(options, item));
  if (patch === null) return false;
  if (known === undefined || !(await noteAttempts(options, item, patch)))
    throw new AgentError("right_lost", { session: item.sessionKey });
  return true;
}

function noteAttempts(
  { store, holder, world }: TurnsOptions,
  { id }: { readonly id: string },
  patch: ItemPatch,
): Promise<boolean> {
  return store.commit(holder, [{ kind: "note", id, patch }], world.nowMs());
}

/** Answers and results since the item began: what an attempt has to show for itself. */
async function progressOf(options: TurnsOptions, item: TurnItem): Promise<number> {
  const agent = options.agent(item.sessionKey);
  if (item.start === null || agent === undefined) return 0;
  await using session = await agent.sessions.open(item.sessionKey);
  if (session.id !== item.start.sessionId) return 0;
  const since = await session.since(item.start.leaf);
  return since.filter((entry) => isMessage(entry) && isStep(entry.message.role)).length;
}

function isStep(role: string): boolean {
  return role === "assistant" || role === "toolResult";
}

/** A key that was told before is in the lane for as long as items are kept. */
async function tell(
  { store, world, wakeOut }: TurnsOptions,
  { id, message }: TurnItem,
  { key, text }: { readonly key: string; readonly text: string },
): Promise<boolean> {
  const item = outItem({ reply: { to: message.address, text, entryId: key }, itemId: id });
  const { fresh } = await store.enqueue({ ...item, key: `told:${key}` }, world.nowMs());
  if (fresh) wakeOut();
  return fresh;
}

/** The replies are queued under keys of their entry and the items are done, in one step; repeating it changes nothing. */
async function finish(options: TurnsOptions, item: TurnItem, end: TurnEnd): Promise<void> {
  const { store, holder, world } = options;
  const agent = options.agent(item.sessionKey);
  if (agent === undefined) return;
  const { text, entryId, failed, silent, joined, failure } = end;
  const sessionId = item.start?.sessionId ?? (await agent.sessions.get(item.sessionKey))?.sessionId ?? null;
  const ending = json({ text, entryId, sessionId, ...(failure === undefined ? {} : { code: failure }) });
  const state = failed ? "failed" : "done";
  const latest = [item, ...joined].map(({ message }) => message).at(-1) ?? item.message;
  const row = { lastInteractionAt: latest.receivedMs, channel: latest.address.channel, status: state };
  await agent.sessions.update(item.sessionKey, row);
  const said = silent ? "" : spoken(text);
  const replies = [item, ...joined].flatMap(({ id, message }) =>
    repliesTo(message.address, { id, said, entryId }, options),
  );
  const changes: Change[] = [
    ...replies,
    ...joined.map(({ id }) => ({ kind: "settleJoined", id, state, result: ending }) as const),
    { kind: "settle", id: item.id, state, result: ending },
  ];
  await store.commit(holder, changes, world.nowMs());
  for (const { id } of [item, ...joined]) options.changed(id);
  options.wakeOut();
}

/** One address gets one reply, in as many parts as its channel needs: a part's key comes from entry, address and number. */
function repliesTo(
  to: Address,
  { id, said, entryId }: { readonly id: string; readonly said: string; readonly entryId: string },
  { textMax }: TurnsOptions,
): readonly Change[] {
  if (said === "") return [];
  return split(said, textMax?.(to.channel)).map((text, part) => {
    const reply = { to, text, entryId };
    const outgoing = part === 0 ? { reply, itemId: id } : { reply, itemId: id, part };
    return { kind: "enqueue", item: outItem(outgoing) };
  });
}

interface GivenUp {
  readonly code: string;
  readonly text: string;
  readonly entryId?: string | null;
}

/** Ends the item as failed, with a text for its sender. Does nothing where `finish` has done it. */
async function giveUp(options: TurnsOptions, item: LaneItem, { code, text, entryId }: GivenUp): Promise<After> {
  const { store, holder, world, log } = options;
  const known = await store.get(item.id);
  if (known?.state !== "claimed") return SETTLED;
  log.warn("a message failed", { item: item.id, why: text });
  const reply = { to: messageOf(item).address, text, entryId: entryId ?? item.id };
  const ending: Ending = { text, entryId: entryId ?? null, sessionId: known.start?.sessionId ?? null, code };
  const changes: Change[] = [
    { kind: "enqueue", item: outItem({ reply, itemId: item.id }) },
    { kind: "settle", id: item.id, state: "failed", result: json(ending) },
  ];
  await store.commit(holder, changes, world.nowMs());
  options.changed(item.id);
  options.wakeOut();
  return SETTLED;
}

async function faulted(options: TurnsOptions, item: LaneItem, error: unknown): Promise<After> {
  const { store, log } = options;
  const code = error instanceof CodedError ? error.code : "fault";
  log.error("a turn failed", { item: item.id, code, why: whyOf(error) });
  if (error instanceof AgentError && error.code === "session_moved")
    return giveUp(options, item, { code, text: error.message });
  const known = (await store.get(item.id)) ?? item;
  const patch = known.attempts > item.attempts ? {} : charged(known, known.progress);
  if (patch === null) return giveUp(options, item, { code, text: `I could not work on this message: ${whyOf(error)}` });
  await noteAttempts(options, item, patch);
  options.changed(item.id);
  return { kind: "again", delayMs: backoffMs(known.idleAttempts) };
}
