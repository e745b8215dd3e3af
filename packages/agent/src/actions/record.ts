/**
 * What is known of a business act across sessions: `actions/<key>/record.jsonl`, one line for each intent and each outcome.
 *
 * Invariants: lines are written under the action's lock, synced before the effect and before the result; a line that a crash
 * cut off is as if it had not been written, and the next one begins on a line of its own.
 */
import { isObject, type JsonObject, tryParse } from "@holdfast/base";
import type { ToolOutcome, Verdict } from "../types.ts";
import type { ActionFolders } from "./folder.ts";

interface Where {
  readonly session: string;
  readonly entryId: string;
  readonly ordinal: number;
}

/** An act that was begun. */
export interface RecordedIntent extends Where {
  readonly event: "intent";
  readonly attempt: number;
  readonly evidence: JsonObject;
  readonly atMs: number;
}

/** How it ended. `happened` is what the tool itself said, or what was found out. */
export interface RecordedOutcome extends Where {
  readonly event: "outcome";
  readonly verdict: Exclude<Verdict, "not_started"> | "failed";
  readonly outcome: ToolOutcome;
  readonly atMs: number;
}

export type Known =
  | { readonly kind: "nothing" }
  /** Begun, and nobody wrote down how it ended. */
  | { readonly kind: "open"; readonly intent: RecordedIntent }
  | { readonly kind: "ended"; readonly last: RecordedOutcome; readonly attempts: number };

/** What the last lines say. Needs the action's lock. */
export async function knownOf(folders: ActionFolders, key: string): Promise<Known> {
  const lines = (await folders.readRecord(key)).split("\n").map(tryParse).filter(isObject);
  const last = lines.findLast(({ event }) => event === "intent" || event === "outcome");
  if (last === undefined) return { kind: "nothing" };
  return last.event === "intent"
    ? { kind: "open", intent: last as unknown as RecordedIntent }
    : {
        kind: "ended",
        last: last as unknown as RecordedOutcome,
        attempts: lines.filter(({ event }) => event === "intent").length,
      };
}

/** Adds one line, durably. Needs the action's lock; its folder is there. */
export async function addToRecord(
  folders: ActionFolders,
  key: string,
  line: RecordedIntent | RecordedOutcome,
): Promise<void> {
  const before = await folders.readRecord(key);
  const seal = before === "" || before.endsWith("\n") ? "" : "\n";
  await folders.addToRecord(key, `${seal}${JSON.stringify(line)}\n`);
}
