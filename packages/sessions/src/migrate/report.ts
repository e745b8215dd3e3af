/**
 * What a migration did, for people and programs. Pure.
 * Invariant: everything that was found is in exactly one list.
 */
import type { Imported } from "../keeping/import.ts";

export interface Carried extends Imported {
  /** What it came from: a file, or a session in a database. */
  readonly source: string;
}

export interface MigrationReport {
  readonly carried: readonly Carried[];
  /** Transcripts without a key of their own, put into `archive/`. */
  readonly archived: readonly { readonly source: string; readonly file: string }[];
  /** Files that belong to no conversation: records of runs, locks, older copies of an index. */
  readonly left: readonly { readonly source: string; readonly why: string }[];
  /** Conversations that could not be carried over. */
  readonly skipped: readonly { readonly source: string; readonly why: string }[];
  /** What was changed on the way or needs a person. */
  readonly notes: readonly string[];
}

export class MigrationNotes {
  readonly carried: Carried[] = [];
  readonly archived: { source: string; file: string }[] = [];
  readonly left: { source: string; why: string }[] = [];
  readonly skipped: { source: string; why: string }[] = [];
  readonly notes: string[] = [];
}
