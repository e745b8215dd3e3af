/**
 * What is known of a business act across sessions: `actions/<key>/record.jsonl`, one line for each intent and each outcome.
 *
 * Invariants: lines are written under the action's lock, synced before the effect and before the result; a line that a crash
 * cut off is as if it had not been written, and the next one begins on a line of its own.
 */
import { open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, isObject, type JsonObject, tryParse } from "@holdfast/base";
import type { ToolOutcome, Verdict } from "../types.ts";

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

const pathOf = (actions: string, key: string): string => join(actions, key, "record.jsonl");

/** What the last lines say. Needs the action's lock. */
export async function knownOf(actions: string, key: string): Promise<Known> {
  const lines = (await textOf(pathOf(actions, key))).split("\n").map(tryParse).filter(isObject);
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
export async function addToRecord(actions: string, key: string, line: RecordedIntent | RecordedOutcome): Promise<void> {
  const path = pathOf(actions, key);
  const before = await textOf(path);
  const seal = before === "" || before.endsWith("\n") ? "" : "\n";
  await using file = await open(path, "a", 0o600);
  await file.writeFile(`${seal}${JSON.stringify(line)}\n`);
  await file.sync();
  if (before === "") await syncFolder(join(actions, key));
}

async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, "r");
  await folder.sync();
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}
