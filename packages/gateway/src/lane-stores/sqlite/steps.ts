/**
 * What a lane store is asked, as values that can be handed to another thread, and what it answers.
 *
 * Invariant: ids are given before a step is made, so whoever carries it out needs neither clock nor chance.
 */
import type { ErrorDetails } from "@holdfast/base";
import type { GatewayErrorCode } from "../../errors.ts";
import type { Change, ClaimRequest, ItemQuery, Lane, NewLaneItem } from "../../lanes.ts";

export interface NamedItem extends NewLaneItem {
  readonly id: string;
}
export type NamedChange =
  | Exclude<Change, { readonly kind: "enqueue" }>
  | { readonly kind: "enqueue"; readonly item: NamedItem };

/** Each is carried out as a whole or not at all. */
export type Step =
  | {
      readonly kind: "enqueue";
      readonly item: NamedItem;
      readonly also: readonly NamedChange[];
      readonly nowMs: number;
    }
  | { readonly kind: "claim"; readonly request: ClaimRequest }
  | { readonly kind: "renew"; readonly id: string; readonly holder: string; readonly leaseUntilMs: number }
  | {
      readonly kind: "commit";
      readonly holder: string;
      readonly changes: readonly NamedChange[];
      readonly nowMs: number;
    }
  /** Who has claimed something, this one aside. */
  | { readonly kind: "holders"; readonly but: string }
  | { readonly kind: "giveBack"; readonly holders: readonly string[] }
  | { readonly kind: "get"; readonly id: string }
  | { readonly kind: "list"; readonly query: ItemQuery }
  | { readonly kind: "nextDue"; readonly lane: Lane }
  | { readonly kind: "forget"; readonly endedBeforeMs: number };

const READS: ReadonlySet<Step["kind"]> = new Set(["holders", "get", "list", "nextDue"]);

export function onlyReads(step: Step): boolean {
  return READS.has(step.kind);
}

export type Outcome =
  | { readonly kind: "done"; readonly value: unknown }
  | { readonly kind: "error"; readonly code: GatewayErrorCode; readonly details: ErrorDetails };
