/**
 * What comes out when a file of any kind is read as a sound transcript: lines to write, and differences to report.
 * Invariant: a difference that loses bytes asks for them to be kept aside.
 */

export type ChangeKind =
  | "blank_dropped"
  | "damage_set_aside"
  | "repetition_dropped"
  | "header_moved"
  | "header_made"
  | "header_corrected"
  | "upgraded"
  | "id_given"
  | "parent_set"
  | "kept_entry_set"
  | "target_set"
  | "fields_set_aside"
  | "text_cleaned"
  | "stale_marked"
  | "leaf_stated";

/** One difference between the file that was read and the one that is written. */
export interface Change {
  /** Line of the file that was read, from 1; null: it concerns the file as a whole. */
  readonly line: number | null;
  readonly offset: number;
  readonly bytes: number;
  readonly what: ChangeKind;
  readonly why: string;
}

/** `id` is null for the header; `aside` asks to keep the bytes that were there. */
export type Piece =
  | { readonly kind: "line"; readonly id: string | null; readonly text: string | Buffer }
  | { readonly kind: "change"; readonly change: Change; readonly aside: boolean };
