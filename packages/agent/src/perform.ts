/**
 * One tool call, once: intent → effect → result; or, on the way again, verdict → result.
 *
 * answer with calls → [ lock → intent → effect → result ] → the next question
 * Invariant: the intent is durable before the effect starts, and a call that may have had its effect is looked at before it
 * is made again. Without the first a crash leaves an effect nobody knows of; without the second, two effects.
 */
import { assertNever, isObject, type JsonObject, messageOf } from "@holdfast/base";
import type { Entry, NewEntry } from "@holdfast/sessions";
import { beforeActing, businessKey, endedBefore } from "./actions/business.ts";
import { intentEntry, resultEntry, verdictEntry } from "./actions/entries.ts";
import { actionKey, foldersOf } from "./actions/folder.ts";
import { addToRecord, type RecordedIntent, type RecordedOutcome } from "./actions/record.ts";
import { type Intent, intentsOf, turnRecordsOf } from "./entries.ts";
import { HELD, loopText } from "./loops.ts";
import { AgentError, isLettingGo } from "./errors.ts";
import type { OpenCall } from "./next-step.ts";
import { permission } from "./permission.ts";
import { effectOf, type Finding, recoveredText, settle } from "./settle.ts";
import type { Tool, ToolContext, ToolOutcome } from "./types.ts";
import { append, type Work } from "./work.ts";

/** `busy`: somebody else performs or settles this action now. */
export type Performed = { readonly kind: "done" } | { readonly kind: "busy"; readonly by: string };

/** Everything that is known about one call before anything is done. */
export interface Action extends OpenCall {
  readonly key: string;
  /** Its key is that of a business act: what other sessions know of it counts. */
  readonly business: boolean;
  readonly tool: Tool | undefined;
  readonly args: JsonObject;
  readonly intent: Intent | undefined;
  /** The entries in which its intents and its turn are looked up. */
  readonly log: readonly Entry[];
  /** When set, nothing is run: an open call is closed, with this as the reason. */
  readonly closing: string | null;
  /** Its result goes into the log after this: results stand in the order of their calls. */
  readonly before: Promise<unknown>;
}

const DONE: Performed = { kind: "done" };

/** Gives one open call its result. Throws when an append fails; what the effect did is then found out on the way again. */
export async function perform(
  work: Work,
  open: OpenCall,
  options: Pick<Action, "log"> & Partial<Pick<Action, "closing" | "before">>,
): Promise<Performed> {
  const action = describe(work, open, { closing: null, before: Promise.resolve(), ...options });
  const { intent } = action;
  if (intent === undefined) return performFirst(work, action);
  return underLock(work, action, () => settleFirst(work, action, intent));
}

/** No intent: nothing of ours has started. */
async function performFirst(work: Work, action: Action): Promise<Performed> {
  if (!isOurs(work, action)) return closeForeign(work, action);
  const circle = loopText(action.log, { name: action.call.name, args: action.args });
  if (circle !== null) return conclude(work, action, { ok: false, text: circle, details: HELD });
  const may = permission(work, action);
  if (may.kind === "refused") {
    const { text, details } = may;
    return conclude(work, action, { ok: false, text, ...(details && { details }) });
  }
  const held = await holdBack(work);
  if (held !== null) return conclude(work, action, { ok: false, text: held });
  if (may.kind === "ask") return conclude(work, action, { ok: false, text: EXPIRED });
  const { tool } = may;
  if (effectOf(tool, action.args) !== "none") {
    return underLock(work, action, () => beginFirst(work, action, tool));
  }
  const context = contextOf(work, action, 1);
  return conclude(work, action, (await runTool(tool, action.args, { evidence: {}, context })).outcome);
}

/** Whoever asks for approvals does so for a whole answer, before any of its calls; what is undecided here ran out of time. */
const EXPIRED = "Not run: nobody answered in time whether it may run.";

/** Under the lock: what other sessions know of the same business act comes first. */
async function beginFirst(work: Work, action: Action, tool: Tool): Promise<Performed> {
  const before = notStarted(work, action);
  if (!action.business) return attempt(work, action, tool, { number: 1, before });
  const { agent } = work;
  const place = placeOfAct(work, action);
  const context = (number: number) => contextOf(work, action, number);
  const known = await beforeActing({ agent, tool, args: action.args, key: action.key, place, context });
  switch (known.kind) {
    case "free":
      return attempt(work, action, tool, { number: known.attempt, before });
    case "busy":
      return busyWith("another holder of act", action);
    case "done":
      return recover(work, action, { verdict: "happened", repeat: false, ...known });
    case "unclear":
      return recover(work, action, { repeat: false, ...known });
    default:
      return assertNever(known);
  }
}

function placeOfAct({ session }: Work, { answer, ordinal }: Action) {
  return { session: session.id, entryId: answer.id, ordinal };
}

/** What arrived meanwhile keeps back every call that has not begun: a stop, or a message that the model should read first. */
async function holdBack({ agent, item, signal }: Work): Promise<string | null> {
  const { stop, steer } = await agent.arrived(item);
  const reason: unknown = signal.aborted ? signal.reason : null;
  const ended = reason instanceof AgentError ? reason.code : null;
  if (ended === "right_lost") throw reason;
  if (stop !== null || ended === "stopped" || ended === "timed_out")
    return "Not run: the work was stopped before this call was begun.";
  return steer.length === 0
    ? null
    : "Not run: a new message arrived before this call was begun. Read it, then decide again.";
}

async function underLock(work: Work, action: Action, run: () => Promise<Performed>): Promise<Performed> {
  using lock = await foldersOf(work.agent).lock(action.key, work.agent.holder);
  return lock === undefined ? busyWith("the holder of action", action) : await run();
}

function busyWith(who: string, { key }: Action): Performed {
  return { kind: "busy", by: `${who} ${key.slice(0, 12)}` };
}

export function describe(
  { agent, session }: Work,
  open: OpenCall,
  given: Pick<Action, "log" | "closing" | "before">,
): Action {
  const { log } = given;
  const tool = agent.tools.get(open.call.name);
  const args = isObject(open.call.arguments) ? (open.call.arguments as JsonObject) : {};
  const intent = intentsOf(log, open.answer.id, open.ordinal).at(-1);
  const act = businessKey(agent.id, tool, args);
  const key = intent?.key ?? act ?? actionKey(session.id, open.answer.id, open.ordinal);
  return { ...open, ...given, key, business: act === key, tool, args, intent };
}

/** Ours and certain: a turn of this session wrote the answer, and an intent could not have been lost with the power. */
function isOurs({ agent, session }: Work, { answer, log }: Action): boolean {
  return turnRecordsOf(log).some(
    ({ session: id, t, fsync, boot }) =>
      id === session.id && t === answer.t && (fsync !== "never" || boot === agent.home.boot),
  );
}

async function closeForeign(work: Work, action: Action): Promise<Performed> {
  const says =
    "Another program asked for it, or the log may have lost its intent; nothing here can tell whether it was done.";
  const outcome = recoveredText(says, "It was not run.");
  return recover(work, action, { verdict: "unknown", evidence: {}, repeat: false, outcome });
}

/** An answer of an earlier life whose call was never started is worth a line; one of this life is not. */
function notStarted({ right }: Work, { answer, key }: Action): readonly NewEntry[] {
  if (answer.t === right.t) return [];
  return [verdictEntry(key, { verdict: "not_started", evidence: { intent: null } })];
}

async function settleFirst(work: Work, action: Action, intent: Intent): Promise<Performed> {
  const { agent, item } = work;
  const { tool, args } = action;
  const recorded = action.business
    ? await endedBefore(foldersOf(agent), action.key, placeOfAct(work, action))
    : undefined;
  if (recorded !== undefined) return conclude(work, action, recorded);
  const context = contextOf(work, action, intent.attempt);
  const settled = await settle(intent, { homeId: agent.home.id, tool, args, context });
  if (settled.kind === "in_flight") return busyWith("the command of action", action);
  const { finding } = settled;
  if (!finding.repeat || tool === undefined) return recover(work, action, finding);
  // It was begun before, so it had its yes.
  const allowed = agent.allowed(item.message, tool, args);
  const refusal = action.closing ?? (typeof allowed === "string" ? allowed : null);
  if (refusal !== null) {
    const text = `${finding.outcome.text} Not run now: ${refusal}`;
    return recover(work, action, { ...finding, outcome: { ok: false, text } });
  }
  const before = [verdictEntry(action.key, finding)];
  return attempt(work, action, tool, { number: intent.attempt + 1, before });
}

/** Steps 3 to 5 of durability.md. The lock is held by the caller. */
async function attempt(
  work: Work,
  action: Action,
  tool: Tool,
  { number, before }: { readonly number: number; readonly before: readonly NewEntry[] },
): Promise<Performed> {
  const { agent } = work;
  await foldersOf(agent).makeAttempt(action.key, number);
  const context = contextOf(work, action, number);
  const prepared = await prepare(tool, action.args, context);
  if (prepared.kind === "failed") return conclude(work, action, prepared.outcome, { before });
  const resultId = action.intent?.resultId ?? agent.world.newId("entry");
  const { evidence } = prepared;
  await noteAct(work, action, { event: "intent", attempt: number, evidence });
  await record(work, [
    ...before,
    intentEntry(agent.home, action, { tool, effect: effectOf(tool, action.args), resultId, attempt: number, evidence }),
  ]);
  // Once more: what was durable before the intent was must hold it back.
  const held = await holdBack(work);
  if (held !== null) {
    const outcome = { ok: false, text: held };
    await noteAct(work, action, { event: "outcome", verdict: "absent", outcome });
    return conclude(work, action, outcome, { resultId });
  }
  agent.world.at(`effect:before:${tool.spec.name}`);
  const { outcome, threw } = await runTool(tool, action.args, { evidence, context });
  agent.world.at(`effect:after:${tool.spec.name}`);
  if (threw && action.business) return conclude(work, action, unclearAct(outcome), { resultId });
  await noteAct(work, action, { event: "outcome", verdict: outcome.ok ? "happened" : "failed", outcome });
  return conclude(work, action, outcome, { resultId });
}

/** An error tells nothing about the act: its record stays open, so that whoever asks for it next looks first. */
function unclearAct({ text }: ToolOutcome): ToolOutcome {
  return {
    ok: false,
    text: `${text}\nWhether it was done is not known. Asked for again, it is looked up before it is done.`,
  };
}

type ActLine =
  | Pick<RecordedIntent, "event" | "attempt" | "evidence">
  | Pick<RecordedOutcome, "event" | "verdict" | "outcome">;

/** A line in the record of a business act; nothing for other actions. */
async function noteAct(work: Work, action: Action, line: ActLine): Promise<void> {
  if (!action.business) return;
  const { agent } = work;
  await addToRecord(foldersOf(agent), action.key, { ...placeOfAct(work, action), atMs: agent.world.nowMs(), ...line });
}

type Prepared =
  | { readonly kind: "ready"; readonly evidence: JsonObject }
  | { readonly kind: "failed"; readonly outcome: ToolOutcome };

/** Nothing has happened yet when this fails, so the failure is an ordinary result. */
async function prepare(tool: Tool, args: JsonObject, context: ToolContext): Promise<Prepared> {
  try {
    return { kind: "ready", evidence: (await tool.prepare?.(args, context)) ?? {} };
  } catch (error) {
    return { kind: "failed", outcome: { ok: false, text: `Nothing was done: ${messageOf(error)}` } };
  }
}

async function runTool(
  tool: Tool,
  args: JsonObject,
  { evidence, context }: { readonly evidence: JsonObject; readonly context: ToolContext },
): Promise<{ readonly outcome: ToolOutcome; readonly threw: boolean }> {
  try {
    return { outcome: await tool.run(args, evidence, context), threw: false };
  } catch (error) {
    // Let go on purpose: the command still runs, and a result now would be invented.
    if (isLettingGo(error)) throw error;
    return { outcome: { ok: false, text: `${tool.spec.name} failed: ${messageOf(error)}` }, threw: true };
  }
}

function contextOf({ agent, signal }: Work, { key }: Action, number: number): ToolContext {
  const directory = foldersOf(agent).attempt(key, number);
  return { workspace: agent.workspace, world: agent.world, signal, key, attemptDirectory: directory };
}

/** The ordinary end of a call: its result. */
async function conclude(
  work: Work,
  action: Action,
  outcome: ToolOutcome,
  { before = [], resultId }: { readonly before?: readonly NewEntry[]; readonly resultId?: string } = {},
): Promise<Performed> {
  const id = resultId ?? action.intent?.resultId ?? work.agent.world.newId("entry");
  await action.before;
  await record(work, [...before, resultEntry(action, { id, outcome, nowMs: work.agent.world.nowMs() })]);
  if (resultId !== undefined || action.intent !== undefined) await foldersOf(work.agent).ended?.(action.key);
  return DONE;
}

/** The end of a call whose result was found out afterwards: the verdict, then a result that says so. */
async function recover(work: Work, action: Action, finding: Finding): Promise<Performed> {
  const { key, intent } = action;
  // Absent and repeated is no end; every other finding is what the next session has to know.
  if (intent !== undefined && finding.verdict !== "not_started")
    await noteAct(work, action, { event: "outcome", verdict: finding.verdict, outcome: finding.outcome });
  const id = intent?.resultId ?? work.agent.world.newId("entry");
  await action.before;
  const result = resultEntry(action, { id, outcome: finding.outcome, finding, nowMs: work.agent.world.nowMs() });
  await record(work, [verdictEntry(key, finding), result]);
  if (intent !== undefined) await foldersOf(work.agent).ended?.(key);
  return DONE;
}

async function record(work: Work, entries: readonly NewEntry[]): Promise<void> {
  work.agent.world.at("action:before-record");
  await append(work, entries);
  work.agent.world.at("action:after-record");
}
