/**
 * Ids of calls in the form that a provider accepts.
 *
 * Invariants: an id that is fine stays as it is; one that is not, or that a call before it has, becomes another one that
 * depends on nothing but what stands before it, so that the same conversation is always sent under the same ids.
 */
import { sha256 } from "@holdfast/base";

export interface IdRule {
  isFine(id: string): boolean;
  /** What must not be there twice: the whole id, or each part that the provider looks at. */
  namesIn(id: string): readonly string[];
  /** Another form of it, the n-th, from 1. */
  make(id: string, n: number): string;
}

const HASH_CHARS = 8;

/** Letters, digits, `_` and `-`, at most so many. `fine`: what is left as it is. */
export function wordId(max: number, fine: RegExp = /^[A-Za-z0-9_-]+$/): IdRule {
  return {
    isFine: (id) => id.length <= max && fine.test(id),
    namesIn: (id) => [id],
    make(id, n) {
      const numbered = `${id}_${n + 1}`;
      if (this.isFine(id) && numbered.length <= max) return numbered;
      return hashed(id, n, max);
    },
  };
}

function hashed(id: string, n: number, max: number): string {
  const hash = sha256(`${id}\n${n}`).slice(0, HASH_CHARS);
  const room = Math.min(max, 64) - HASH_CHARS - 1;
  return `${id.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, room)}_${hash}`;
}

/** Mistral: nine letters or digits, no more and no fewer. */
export const ALNUM_9: IdRule = {
  isFine: (id) => /^[A-Za-z0-9]{9}$/.test(id),
  namesIn: (id) => [id],
  make: (id, n) => sha256(`${id}\n${n}`).slice(0, 9),
};

const CALL_CHARS = 64;
const PAIR = /^([A-Za-z0-9_-]{1,64})(\|.+)?$/su;

/** OpenAI's Responses: `<call id>|<item id>`, where the item is one that the same model gave; else the call's id alone. */
export const PAIRED_64: IdRule = {
  isFine: (id) => PAIR.test(id),
  namesIn: (id) => [callPart(id), id.slice(callPart(id).length)].filter((part) => part !== ""),
  make(id, n) {
    const plain = wordId(CALL_CHARS);
    const call = callPart(id);
    return plain.isFine(call) ? plain.make(call, n) : hashed(call, n, CALL_CHARS);
  },
};

/** Of a pair the call's id. */
export function callPart(id: string): string {
  return id.split("|", 1)[0] ?? "";
}

/** The id itself, or the first form of it that is fine and free. Takes it. */
export function takeId(id: string, rule: IdRule, taken: Set<string>): string {
  let free = id;
  for (let n = 1; !isFree(free, rule, taken); n++) free = rule.make(id, n);
  for (const name of rule.namesIn(free)) taken.add(name);
  return free;
}

function isFree(id: string, rule: IdRule, taken: ReadonlySet<string>): boolean {
  return rule.isFine(id) && rule.namesIn(id).every((name) => !taken.has(name));
}
