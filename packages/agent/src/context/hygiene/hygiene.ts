/**
 * What providers insist on, made true in memory just before a request; the transcript is never touched.
 *
 * content → pairing → order → images, by the rules of the family (families.ts). Pure and deterministic.
 * Invariants: what is said stays; what a provider would refuse does not; done twice it changes nothing; and what a message
 * becomes depends on nothing after it but, for pictures, on how many newer ones there are.
 */
import type { EntryMessage } from "@holdfast/sessions";
import { cleaned } from "./content.ts";
import { rulesOf, type Target } from "./families.ts";
import { withImages } from "./images.ts";
import { ordered } from "./order.ts";
import { paired } from "./pairing.ts";
import type { Change } from "./parts.ts";

export interface Mended {
  readonly messages: readonly EntryMessage[];
  /** Of each message: index of the one it was made of; null: it was put in. */
  readonly from: readonly (number | null)[];
  readonly changed: readonly Change[];
}

/** The same conversation as the target accepts it. Messages that need no change are passed on as they are. */
export function mend(messages: readonly EntryMessage[], target: Target): Mended {
  const rules = rulesOf(target);
  const changed: Change[] = [];
  const note = (from: number | null, why: string): void => void changed.push({ from, why });
  const clean = cleaned(messages, { rules, target }, note);
  const whole = ordered(paired(clean, rules.ids, note), rules, note);
  const parts = withImages(whole, rules.images, note);
  return { messages: parts.map(({ message }) => message), from: parts.map(({ from }) => from), changed };
}

/** For a model of our own, which takes everything that is well-formed. */
const OWN: Target = { provider: "", model: "", api: "scripted" };

export function hygienic(messages: readonly EntryMessage[], target: Target = OWN): readonly EntryMessage[] {
  return mend(messages, target).messages;
}
