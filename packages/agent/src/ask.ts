/**
 * One question to the model: context → request → answer, and the answer in the log.
 *
 * Invariant: what streams is provisional. Only a whole answer is appended; a failed or aborted one is withdrawn and leaves
 * nothing that could be taken for an answer.
 */
import { isDeeper, LIMITS } from "@holdfast/base";
import type { ContentBlock, NewEntry } from "@holdfast/sessions";
import { sayInjected } from "./context/bootstrap/inject.ts";
import { makeRoomAfter, makeRoomBefore } from "./context/compaction/room.ts";
import type { RequestFacts } from "./context/report/types.ts";
import { buildRequest } from "./context/request.ts";
import { type InvalidToolCall, modelFailure } from "./model/answers.ts";
import type { Model, ModelAnswer, ModelFailure, Route } from "./types.ts";
import { append, placeOf, type Work } from "./work.ts";

export type Asked =
  | { readonly kind: "answered" }
  | { readonly kind: "failed"; readonly failure: ModelFailure }
  /** `partial`: what it had said. */
  | { readonly kind: "aborted"; readonly partial: readonly ContentBlock[] };

/**
 * Asks until somebody answers: the model, or where there are several whoever the route names next. `answering`: the user entries
 * that the answer answers. One question gets one answer; a failed attempt that another one follows is an entry of its own.
 */
export async function ask(work: Work, answering: readonly string[]): Promise<Asked> {
  await makeRoomBefore(work);
  for (;;) {
    const asked = await askRoute(work, answering);
    const isOver = asked.kind === "failed" && asked.failure.code === "context_overflow";
    if (!isOver || !(await makeRoomAfter(work))) return asked;
  }
}

async function askRoute(work: Work, answering: readonly string[]): Promise<Asked> {
  const { agent, session } = work;
  const seen = await placeOf(work);
  const route = agent.model.route?.(session.id) ?? onlyRoute(agent.model);
  for (let choice = route.next(), asked: Asked | undefined; ; choice = route.next()) {
    if (!("asks" in choice)) return asked ?? { kind: "failed", failure: choice };
    if (asked?.kind === "failed") await append(work, [failedAttempt(work, asked.failure)]);
    asked = await askOne(work, { model: choice.asks, answering, seen });
    if (asked.kind === "answered") route.answered();
    else if (asked.kind === "aborted") route.left();
    else route.failed(asked.failure);
    if (asked.kind !== "failed") return asked;
  }
}

/** A model that stands for itself is asked once. */
function onlyRoute(model: Model): Route {
  const failures: ModelFailure[] = [];
  return {
    next: () => failures[0] ?? { asks: model },
    failed: (failure) => void failures.push(failure),
    answered() {},
    left() {},
  };
}

function failedAttempt({ item }: Work, { code, message }: ModelFailure): NewEntry {
  const data = { item: item.id, attempt: item.attempt, code, message };
  return { type: "custom", customType: "holdfast:attempt", data };
}

interface Question {
  readonly model: Model;
  readonly answering: readonly string[];
  readonly seen: string | null;
}

async function askOne(work: Work, { model, answering, seen }: Question): Promise<Asked> {
  const { agent, item, signal } = work;
  const facts = await buildRequest(work, seen, model);
  const answerId = agent.world.newId("entry");
  const reported = report(work, { answerId, model: model.name }, facts);
  agent.world.at("model:before-ask");
  const { answer, idle } = await untilIdle(agent, signal, ({ signal: listening, heard }) =>
    model.ask(facts.request, {
      signal: listening,
      onDelta(delta) {
        heard();
        agent.observe(item.sessionKey, { kind: "delta", itemId: item.id, answerId, delta });
      },
    }),
  );
  await reported;
  agent.world.at("model:after-answer");
  const failure = idle ? TOO_QUIET : failureOf(answer, signal);
  if (failure === null && answer.stop !== "aborted") {
    await append(work, [...sayInjected(work), answerEntry(work, { id: answerId, answer, answering, seen })]);
    return { kind: "answered" };
  }
  agent.observe(item.sessionKey, { kind: "withdrawn", itemId: item.id, answerId });
  if (failure !== null) return { kind: "failed", failure };
  return { kind: "aborted", partial: answer.content.filter((block) => block.type === "text") };
}

const TOO_QUIET = modelFailure("timeout", "The model went quiet in the middle of its answer.");

interface Listening {
  readonly signal: AbortSignal;
  /** Something came. */
  heard(): void;
}

/** Ends the question when nothing comes for too long; `idle` says that this was why. */
async function untilIdle(
  { world, modelIdleMs = LIMITS.modelIdleMs }: Work["agent"],
  signal: AbortSignal,
  ask: (listening: Listening) => Promise<ModelAnswer>,
): Promise<{ readonly answer: ModelAnswer; readonly idle: boolean }> {
  const quiet = new AbortController();
  let lastMs = world.monotonicMs();
  using _watch = world.every(Math.max(1, modelIdleMs / 4), () => {
    if (world.monotonicMs() - lastMs >= modelIdleMs) quiet.abort(new Error("the model went quiet"));
  });
  const heard = (): void => {
    lastMs = world.monotonicMs();
  };
  const answer = await ask({ signal: AbortSignal.any([signal, quiet.signal]), heard });
  return { answer, idle: answer.stop === "aborted" && quiet.signal.aborted && !signal.aborted };
}

/** For people; it is kept while the model thinks. */
async function report(
  { agent, session, item }: Work,
  asked: { readonly answerId: string; readonly model: string },
  facts: RequestFacts,
): Promise<void> {
  const { file, id: sessionId } = session;
  const place = { file, sessionId, sessionKey: item.sessionKey, ...asked };
  await agent.requests?.record({ ...place, path: session.path() }, facts);
}

/** An answer that says nothing and calls nothing is a failure: sent on, it would be silence. */
function failureOf(answer: ModelAnswer, signal: AbortSignal): ModelFailure | null {
  if (answer.stop === "aborted") {
    return signal.aborted ? null : modelFailure("bad_answer", "The model broke off without being asked to.");
  }
  if (answer.stop === "failed") return answer.failure ?? modelFailure("unknown", "The model failed without a reason.");
  const says = answer.content.some(
    (block) => block.type === "toolCall" || (block.type === "text" && block.text.trim() !== ""),
  );
  return says ? null : modelFailure("bad_answer", "The model gave an empty answer.");
}

function answerEntry(
  work: Work,
  made: {
    readonly id: string;
    readonly answer: ModelAnswer;
    readonly answering: readonly string[];
    readonly seen: string | null;
  },
): NewEntry {
  const { usage, by, stop } = made.answer;
  const content = made.answer.content.map(withoutDepths);
  return {
    type: "message",
    id: made.id,
    message: {
      role: "assistant",
      content,
      ...by,
      usage: usage ?? NO_USAGE,
      stopReason: stop,
      timestamp: work.agent.world.nowMs(),
    },
    answers: made.answering,
    ...(made.seen === null ? {} : { seen: made.seen }),
  };
}

/** Arguments nested out of all measure are not kept: everything that walks over them later would fail on them. */
function withoutDepths(block: ContentBlock): ContentBlock {
  if (block.type !== "toolCall" || !isDeeper(block.arguments, LIMITS.argumentLevelsMax)) return block;
  const argumentsError = `They are nested more than ${LIMITS.argumentLevelsMax} levels deep.`;
  const refused: InvalidToolCall = { ...block, arguments: {}, argumentsError };
  return refused;
}

/** Pi's readers expect the numbers to be there. */
export const NO_USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
} as const;
