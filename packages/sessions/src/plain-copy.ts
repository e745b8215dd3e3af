/**
 * Copies a value that is plain JSON, as appended entries nearly always are, in one pass that also shows that it is.
 * Invariant: what is copied is small, and its line reads back as the same value; of anything else there is no copy, and
 * whoever asked has to look closer.
 */

/** Characters of texts and names, and values, at most: far below what an entry may have. */
const BUDGET = 1024 * 1024;
const DEPTH_MAX = 64;

/** `value` as it is now, or undefined. Does not throw, unless a getter does. */
export function plainCopy<T>(value: T): T | undefined {
  const budget = { left: BUDGET };
  const copy = copyOf(value, DEPTH_MAX, budget);
  return copy === UNUSUAL ? undefined : (copy as T);
}

const UNUSUAL = Symbol("unusual");

interface Budget {
  left: number;
}

function copyOf(value: unknown, depth: number, budget: Budget): unknown {
  budget.left -= typeof value === "string" ? value.length + 1 : 1;
  if (budget.left < 0) return UNUSUAL;
  if (typeof value === "string" || typeof value === "boolean" || value === undefined || value === null) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : UNUSUAL;
  if (typeof value !== "object" || depth === 0) return UNUSUAL;
  return Array.isArray(value) ? copyOfList(value, depth - 1, budget) : copyOfObject(value, depth - 1, budget);
}

function copyOfList(list: readonly unknown[], depth: number, budget: Budget): unknown {
  if (Object.getPrototypeOf(list) !== Array.prototype || list.length > budget.left) return UNUSUAL;
  const copy: unknown[] = [];
  for (const member of list) {
    const one = copyOf(member, depth, budget);
    if (one === UNUSUAL) return UNUSUAL;
    copy.push(one);
  }
  return copy;
}

function copyOfObject(object: object, depth: number, budget: Budget): unknown {
  if (Object.getPrototypeOf(object) !== Object.prototype) return UNUSUAL;
  const copy: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(object)) {
    // Would set the prototype of the copy.
    if (name === "__proto__") return UNUSUAL;
    budget.left -= name.length;
    const one = copyOf(member, depth, budget);
    if (one === UNUSUAL) return UNUSUAL;
    copy[name] = one;
  }
  return copy;
}
