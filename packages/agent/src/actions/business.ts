/**
 * Acts with an identity: the same ticket is not created twice, whichever session or turn asks for it.
 *
 * [ lock → record says? → intent in the record → the usual way → outcome in the record ]
 * Invariant: what the record says happened is never done again by itself; what it left open is looked at first.
 */
import { digest, type JsonObject } from "@holdfast/base";
import { effectOf, recoveredText, type Settled, settle } from "../settle.ts";
import type { Agent, Tool, ToolContext, ToolOutcome } from "../types.ts";
import { type ActionFolders, foldersOf } from "./folder.ts";
import { addToRecord, type Known, knownOf, type RecordedOutcome } from "./record.ts";

/** The key of a business act, or undefined where the tool names none. */
export function businessKey(agentId: string, tool: Tool | undefined, args: JsonObject): string | undefined {
  const identity = tool?.check(args) === null ? tool.identity?.(args) : undefined;
  return identity === undefined || tool === undefined ? undefined : digest(["act", agentId, tool.spec.name, identity]);
}

export interface Place {
  readonly session: string;
  readonly entryId: string;
  readonly ordinal: number;
}

/** `attempt`: the number for the next one. */
export type Before =
  | { readonly kind: "free"; readonly attempt: number }
  | { readonly kind: "done"; readonly outcome: ToolOutcome; readonly evidence: JsonObject }
  | {
      readonly kind: "unclear";
      readonly outcome: ToolOutcome;
      readonly evidence: JsonObject;
      readonly verdict: "unknown" | "conflict";
    }
  | { readonly kind: "busy" };

interface Asked {
  readonly agent: Pick<Agent, "home" | "folders" | "world">;
  readonly tool: Tool;
  readonly args: JsonObject;
  readonly key: string;
  readonly place: Place;
  /** For the attempt of that number. */
  context(attempt: number): ToolContext;
}

/** What the record says about this act before it is begun here. Needs the action's lock. */
export async function beforeActing(asked: Asked): Promise<Before> {
  const { agent, key, place } = asked;
  const known = await knownOf(foldersOf(agent), key);
  if (known.kind === "nothing") return { kind: "free", attempt: 1 };
  if (known.kind === "ended") return afterEnd(known, key);
  const { intent } = known;
  const settled = await leftOpen(asked, known);
  if (settled.kind === "in_flight") return { kind: "busy" };
  const { verdict, outcome, evidence, repeat } = settled.finding;
  if (verdict === "happened") {
    const last: RecordedOutcome = { event: "outcome", ...place, verdict, outcome, atMs: agent.world.nowMs() };
    await addToRecord(foldersOf(agent), key, last);
    return { kind: "done", outcome: said(outcome, last), evidence };
  }
  if (repeat) return { kind: "free", attempt: intent.attempt + 1 };
  return { kind: "unclear", outcome, evidence, verdict: verdict === "conflict" ? "conflict" : "unknown" };
}

/** The probe, asked about the attempt that another session or an earlier life left open. */
function leftOpen(
  { agent, tool, args, key, context }: Asked,
  { intent }: Extract<Known, { kind: "open" }>,
): Promise<Settled> {
  const { entryId, ordinal, attempt, evidence } = intent;
  const effect = effectOf(tool, args);
  const asIntent = {
    home: agent.home.id,
    entryId,
    ordinal,
    tool: tool.spec.name,
    effect,
    key,
    resultId: "",
    attempt,
    evidence,
  };
  return settle(asIntent, { homeId: agent.home.id, tool, args, context: context(attempt) });
}

function afterEnd({ last, attempts }: Extract<Known, { kind: "ended" }>, key: string): Before {
  const { session, entryId, outcome, verdict } = last;
  const evidence: JsonObject = { record: key.slice(0, 12), session, entryId, atMs: last.atMs };
  if (verdict === "happened") return { kind: "done", outcome: said(outcome, last), evidence };
  if (verdict === "unknown" || verdict === "conflict") {
    const text = recoveredText(`The same act was left ${verdict} in session ${session}.`, "It was not repeated.");
    return { kind: "unclear", outcome: text, evidence, verdict };
  }
  return { kind: "free", attempt: attempts + 1 };
}

function said(outcome: ToolOutcome, { session, atMs }: RecordedOutcome): ToolOutcome {
  const when = new Date(atMs).toISOString();
  return { ...outcome, text: `[Done before, at ${when} in session ${session}; not done again]\n${outcome.text}` };
}

/** What this very call is recorded to have come to, though its result is missing; undefined where the record does not tell. */
export async function endedBefore(folders: ActionFolders, key: string, place: Place): Promise<ToolOutcome | undefined> {
  const known = await knownOf(folders, key);
  if (known.kind !== "ended") return undefined;
  const { session, entryId, ordinal, verdict, outcome } = known.last;
  const same = session === place.session && entryId === place.entryId && ordinal === place.ordinal;
  return same && (verdict === "happened" || verdict === "failed") ? outcome : undefined;
}
