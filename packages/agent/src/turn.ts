/**
 * One accepted message, from the lane to its reply.
 *
 * [ lane ] → open → claim → charge → [ nextStep ⟲ hear | ask | act ] → finish → [ outbound lane ]
 * Invariant: the log alone decides what comes next, and everything is written under the turn right. A first run, a retry and
 * a recovery are the same code; a holder that lost its right stops and writes nothing more.
 */
import { assertNever, CodedError, isObject, type JsonObject, LIMITS } from "@holdfast/base";
import type { Entry } from "@holdfast/sessions";
import { ask } from "./ask.ts";
import { type AnswerEntry, intentsOf, textOf } from "./entries.ts";
import { AgentError } from "./errors.ts";
import { hear } from "./hear.ts";
import { isLooping, LOOP_TEXT } from "./loops.ts";
import { type Next, nextStep, type OpenCall } from "./next-step.ts";
import { describe, type Performed, perform } from "./perform.ts";
import { spentIn } from "./spend.ts";
import { approvalsFor, takeUpApproved } from "./permission.ts";
import { effectOf } from "./settle.ts";
import {
  busy,
  failureText,
  joinedIn,
  noteAttempt,
  STEPS_TEXT,
  type Stop,
  stopByPerson,
  stopLate,
  stoppedBefore,
  stopVisibly,
  usedUp,
} from "./stop.ts";
import type { Agent, Joining, TurnItem, TurnOutcome } from "./types.ts";
import { append, headOf, keepRight, sinceStart, type Work } from "./work.ts";

/**
 * Works on one item until it is answered, failed, or in other hands. May be called again for the same item after any
 * crash. Aborting `signal` stops it: partial output is withdrawn, nothing is written, and the outcome is `cancelled` with
 * `entryId: null`; the item is not settled. A running command is killed, unless `signal.reason` is
 * `AgentError("detached")`: then it runs on and the next claim attaches to it. With `AgentError("stopped")` or
 * `AgentError("timed_out")` as reason it ends on record instead: running tools are ended and their results kept, calls that
 * were not begun are closed, and the outcome has an entry.
 * Throws `AgentError("session_moved")` and what the store throws; the item is then to be tried again.
 */
export async function turn(item: TurnItem, agent: Agent, signal: AbortSignal): Promise<TurnOutcome> {
  await using session = await agent.sessions.open(item.sessionKey);
  const claim = await session.claimTurn(agent.holder, LIMITS.leaseMs);
  if (claim.kind === "held") return busy(claim.by);
  await using kept = keepRight(session, claim.right, { agent, signal });
  using told = tellTurn(agent, item);
  try {
    const charged = await agent.charge(item);
    const work = await begin({ item, agent, session, right: claim.right, signal: kept.signal });
    return told.ending(charged ? await goOn(work) : await giveUp(work));
  } catch (error) {
    return told.ending(stoppedBy(error, kept.signal));
  }
}

/** Asks the log what is missing and does that, until nothing is. A stop that arrived ends it before the next step. */
async function goOn(work: Work): Promise<TurnOutcome> {
  for (let questions = 0; questions <= LIMITS.turnStepsMax; ) {
    const ended = await endedFromOutside(work);
    if (ended !== undefined) return ended;
    const next = await lookAhead(work);
    const kept = next.kind === "ask" ? keptFromAsking(work, await sinceStart(work)) : null;
    if (kept !== null) return stopVisibly(work, kept);
    if (next.kind === "ask") questions += 1;
    if (questions > LIMITS.turnStepsMax) break;
    const outcome = await take(work, next);
    if (outcome !== undefined) return outcome;
  }
  return stopVisibly(work, { code: "turn_steps_max", text: STEPS_TEXT });
}

/** Circles and money end a turn before its next question. */
function keptFromAsking({ agent }: Work, log: readonly Entry[]): Stop | null {
  if (isLooping(log)) return { code: "turn_loop", text: LOOP_TEXT };
  const text = agent.maySpend?.(spentIn(log)) ?? null;
  return text === null ? null : { code: "spend_limit", text };
}

/** A person's stop or the end of its time, as an outcome. Letting go is thrown. An answer that is there is still sent. */
async function endedFromOutside(work: Work): Promise<TurnOutcome | undefined> {
  const { agent, item, signal } = work;
  const reason: unknown = signal.aborted ? signal.reason : null;
  const late = reason instanceof AgentError && reason.code === "timed_out";
  if (reason !== null && !late && !isStop(reason)) throw reason;
  const { stop, joined } = await agent.arrived(item);
  work.joined = joined;
  if (!late && stop === null && reason === null) return undefined;
  const next = nextStep(await sinceStart(work), item.message);
  if (next.kind === "reply" || next.kind === "failed") return take(work, next);
  return late ? stopLate(work, reason.details.seconds) : stopByPerson(work, work.partial);
}

function isStop(reason: unknown): boolean {
  return reason instanceof AgentError && reason.code === "stopped";
}

/** The next step, after what waits has been taken into the turn where this is the place for it. */
async function lookAhead(work: Work): Promise<Next> {
  const { agent, item, session, start } = work;
  const next = nextStep(await sinceStart(work), item.message, messagesOf(work.joined));
  if (next.kind !== "ask" && next.kind !== "hear") return next;
  const { steer, collect } = await agent.arrived(item);
  const isFirst = next.kind === "hear" && next.keys.includes(item.message.key);
  const joining = isFirst ? [...collect, ...steer] : steer;
  if (joining.length === 0 || !(await agent.join(item, joining, { sessionId: session.id, leaf: start }))) return next;
  work.joined = [...work.joined, ...joining];
  return nextStep(await sinceStart(work), item.message, messagesOf(work.joined));
}

function messagesOf(items: readonly Joining[]): readonly Joining["message"][] {
  return items.map(({ message }) => message);
}

/** One step; an outcome ends the turn. */
async function take(work: Work, next: Next): Promise<TurnOutcome | undefined> {
  switch (next.kind) {
    case "hear": {
      const heard = await hear(work, next.keys);
      return heard.kind === "busy" ? busy(heard.by) : undefined;
    }
    case "ask":
      return askOnce(work, next.answering);
    case "act":
      return act(work, next.open);
    case "reply":
      return reply(work, next.entry);
    case "failed":
      return stoppedBefore(work, next.entry);
    default:
      return assertNever(next);
  }
}

async function askOnce(work: Work, answering: readonly string[]): Promise<TurnOutcome | undefined> {
  const asked = await ask(work, answering);
  switch (asked.kind) {
    case "answered":
      return undefined;
    case "aborted":
      // What to make of it is decided where every step begins.
      work.partial = asked.partial;
      return undefined;
    case "failed":
      if (asked.failure.retryable) return noteAttempt(work, asked.failure);
      return stopVisibly(work, {
        code: "model_failed",
        text: failureText(asked.failure),
        failure: asked.failure.code,
      });
    default:
      return assertNever(asked);
  }
}

/** The calls of one answer: neighbours that allow it run together, and results go into the log in the answer's order. */
async function act(work: Work, open: readonly OpenCall[]): Promise<TurnOutcome | undefined> {
  const plain = { log: await sinceStart(work), closing: null, before: Promise.resolve() };
  const first = open.filter(({ answer, ordinal }) => intentsOf(plain.log, answer.id, ordinal).length === 0);
  const approvals = await approvalsFor(work, first, (call) => describe(work, call, plain));
  if (approvals.length > 0) return { kind: "waiting", approvals };
  for (const group of groupsOf(work, open)) {
    const log = await sinceStart(work);
    let before: Promise<unknown> = Promise.resolve();
    const performed = group.map((call) => {
      const done = performOne(work, call, { log, before });
      before = done.catch(() => undefined);
      return done;
    });
    // All of them end before anything is said: what still runs has an effect nobody would wait for.
    const all = await Promise.allSettled(performed);
    for (const one of all) if (one.status === "rejected") throw one.reason;
    const held = all.find((one) => one.status === "fulfilled" && one.value.kind === "busy");
    if (held?.status === "fulfilled" && held.value.kind === "busy") return busy(held.value.by);
  }
  return undefined;
}

function groupsOf({ agent }: Work, open: readonly OpenCall[]): readonly (readonly OpenCall[])[] {
  const groups: OpenCall[][] = [];
  let together = false;
  for (const call of open) {
    const tool = agent.tools.get(call.call.name);
    const args = isObject(call.call.arguments) ? (call.call.arguments as JsonObject) : {};
    const parallel = tool === undefined || (tool.parallel ?? effectOf(tool, args) === "none");
    if (parallel && together) groups.at(-1)?.push(call);
    else groups.push([call]);
    together = parallel;
  }
  return groups;
}

async function performOne(
  work: Work,
  call: OpenCall,
  { log, before }: { readonly log: readonly Entry[]; readonly before: Promise<unknown> },
): Promise<Performed> {
  const { agent, item, signal } = work;
  if (signal.aborted && !isStop(signal.reason)) throw signal.reason;
  const about = { entryId: call.answer.id, ordinal: call.ordinal };
  agent.observe(item.sessionKey, { kind: "action", ...about, state: "running" });
  const done = await perform(work, call, { log, before });
  if (done.kind === "done") agent.observe(item.sessionKey, { kind: "action", ...about, state: "settled" });
  return done;
}

async function reply(work: Work, entry: AnswerEntry): Promise<TurnOutcome> {
  const { agent, item, session } = work;
  const text = textOf(entry);
  const joined = await joinedIn(work, entry);
  await agent.finish(item, { entryId: entry.id, text, failed: false, silent: false, joined });
  return { kind: "replied", sessionId: session.id, entryId: entry.id, text };
}

/** The attempts are used up: an answer that is there is still sent, else the message fails visibly. */
async function giveUp(work: Work): Promise<TurnOutcome> {
  const next = nextStep(await sinceStart(work), work.item.message);
  if (next.kind === "reply" || next.kind === "failed") return (await take(work, next)) ?? giveUp(work);
  return stopVisibly(work, await usedUp(work));
}

/** Where the item began, remembered before its first entry; then the entry that says whose turn this is. */
async function begin(made: Pick<Work, "item" | "agent" | "session" | "right" | "signal">): Promise<Work> {
  const { agent, item, session, right } = made;
  const startedMs = agent.world.monotonicMs();
  // The holder before us may have been another process.
  await session.catchUp();
  const start = item.start ?? { sessionId: session.id, leaf: session.leaf() };
  if (start.sessionId !== session.id) {
    throw new AgentError("session_moved", { began: start.sessionId, key: session.key, now: session.id });
  }
  if (item.start === null) await agent.began(item, start);
  const since = await session.since(start.leaf);
  const { joined } = await agent.arrived(item);
  const work: Work = {
    ...made,
    startedMs,
    start: start.leaf,
    head: headOf(since, item.id, start.leaf),
    joined,
    partial: [],
    appending: Promise.resolve(),
  };
  const { id: home, boot, fsync } = agent.home;
  const data = {
    item: item.id,
    session: session.id,
    t: right.t,
    home,
    boot,
    fsync,
    attempt: item.attempt,
    event: "begin",
  };
  await append(work, [{ type: "custom", customType: "holdfast:turn", data }]);
  await takeUpApproved(work);
  return work;
}

/** Tells observers that the turn began, and at the end, however it comes, that it ended. */
function tellTurn(agent: Agent, item: TurnItem): { ending(outcome: TurnOutcome): TurnOutcome } & Disposable {
  let how = "fault";
  const about = { kind: "turn", itemId: item.id } as const;
  agent.observe(item.sessionKey, { ...about, state: "began" });
  return {
    ending(outcome) {
      how = outcome.kind;
      return outcome;
    },
    [Symbol.dispose]: () => agent.observe(item.sessionKey, { ...about, state: "ended", outcome: how }),
  };
}

/** What ended the turn from outside, as an outcome; anything else is a fault and thrown. */
function stoppedBy(error: unknown, signal: AbortSignal): TurnOutcome {
  const lost = [error, signal.reason].find((reason) => reason instanceof AgentError && reason.code === "right_lost");
  if (lost instanceof AgentError && lost.cause !== undefined) throw lost.cause;
  const stale = error instanceof CodedError && error.code === "stale_turn";
  if (stale || lost !== undefined) return { kind: "stopped", code: "stale_turn", entryId: null, text: "" };
  if (signal.aborted && error === signal.reason) return { kind: "stopped", code: "cancelled", entryId: null, text: "" };
  throw error;
}
