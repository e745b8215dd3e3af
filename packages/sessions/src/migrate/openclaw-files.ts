/**
 * What the files beside an OpenClaw index are, by their names. Pure.
 * Invariant: a file that may be a conversation is never taken for something else.
 */
import { sessionIdOf } from "../keeping/repair.ts";

/** A conversation that was put away there, or that no row names. `atMs`: when, if the name says so. */
export interface PutAwaySibling {
  readonly kind: "transcript";
  readonly id: string;
  readonly reason: string;
  readonly atMs: number | undefined;
}
export type Sibling = PutAwaySibling | { readonly kind: "left"; readonly why: string };

/** The transcript's name, why it was put away, and when. */
const TRANSCRIPT = /^(.+)\.jsonl(?:\.(reset|deleted|bak)\.(.+)|\.(bak)-\d+-(\d+))?$/;
const RECORD = /\.(?:trajectory|checkpoint\.[^.]+)$/;

export function siblingOf(name: string): Sibling {
  const [, stem, reason, time, backup, backupMs] = TRANSCRIPT.exec(name) ?? [];
  if (stem === undefined) return { kind: "left", why: whatElse(name) };
  if (RECORD.test(stem)) return { kind: "left", why: "it is no conversation but a record of runs" };
  const id = sessionIdOf(`${stem}.jsonl`) ?? stem.replace(/[^A-Za-z0-9_-]/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  const atMs = backupMs === undefined ? timeIn(time) : Number(backupMs);
  return { kind: "transcript", id: id.slice(0, 128), reason: reason ?? backup ?? "unreferenced", atMs };
}

/** `2026-05-22T04-00-01.123Z`: colons cannot be in every file name. */
export function timeIn(text: string | undefined): number | undefined {
  const time = Date.parse((text ?? "").replace(/T(\d\d)-(\d\d)-(\d\d)/, "T$1:$2:$3"));
  return Number.isFinite(time) ? time : undefined;
}

function whatElse(name: string): string {
  if (name.endsWith(".lock")) return "it is a lock";
  if (name.startsWith("sessions.json")) return "it is an older copy of the index, or an unfinished one";
  if (name === "cold") return "what it holds comes over with the database that names it";
  return "it is no transcript";
}
