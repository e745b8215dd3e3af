/**
 * Cuts a context to a number of messages or tokens, oldest first. Pure.
 *
 * Invariants: a call and its results stay together (providers reject half of an exchange); the newest user message is
 * always in, and so is an exchange that ends the path, because the model is about to be asked about its results;
 * summaries and system prompts are always in and do not count.
 */
import { type EntryMessage, isToolResult, toolCallsOf } from "./entry.ts";
import { approximateTokens } from "./tokens.ts";

/** Not given: no limit. The message that would exceed a limit is left out, and everything before it. */
export interface Limits {
  readonly maxMessages?: number | undefined;
  readonly maxTokens?: number | undefined;
}

/** A message and the entry it came from. `free` ones do not count. */
export interface Sourced {
  readonly id: string;
  readonly message: EntryMessage;
  readonly free: boolean;
}

export interface Limited {
  readonly kept: readonly Sourced[];
  readonly leftOut: readonly { readonly id: string; readonly why: string }[];
  /** Of what is kept, `free` ones included. */
  readonly approximateTokens: number;
}

/** Messages that go in together or not at all. */
interface Unit {
  readonly first: number;
  readonly last: number;
  readonly messages: number;
  readonly tokens: number;
}

export function limitMessages(all: readonly Sourced[], limits: Limits): Limited {
  if (limits.maxMessages === undefined && limits.maxTokens === undefined) return unlimited(all);
  const tokens = all.map((one) => approximateTokens(one.message));
  const units = unitsOf(all, tokens);
  const left = {
    messages: limits.maxMessages ?? Number.POSITIVE_INFINITY,
    tokens: limits.maxTokens ?? Number.POSITIVE_INFINITY,
  };
  const kept = new Set<Unit>(mandatory(all, units));
  for (const unit of kept) take(unit, left);
  const why = fill(units, kept, left);
  const isIn = new Uint8Array(all.length);
  for (const unit of kept) isIn.fill(1, unit.first, unit.last + 1);
  return {
    kept: all.filter((_, index) => isIn[index] === 1),
    leftOut: all.filter((_, index) => isIn[index] === 0).map(({ id }) => ({ id, why })),
    approximateTokens: tokens.reduce((sum, count, index) => sum + (isIn[index] === 1 ? count : 0), 0),
  };
}

/** Everything. Counting tokens means looking at every character: done when somebody asks. */
function unlimited(all: readonly Sourced[]): Limited {
  let tokens: number | undefined;
  return {
    kept: all,
    leftOut: [],
    get approximateTokens() {
      tokens ??= all.reduce((sum, one) => sum + approximateTokens(one.message), 0);
      return tokens;
    },
  };
}

interface Left {
  messages: number;
  tokens: number;
}

function take(unit: Unit, left: Left): void {
  left.messages -= unit.messages;
  left.tokens -= unit.tokens;
}

/** Takes units from the newest backwards until one does not fit; what costs nothing is taken wherever it stands. */
function fill(units: readonly Unit[], kept: Set<Unit>, left: Left): string {
  let why = "";
  for (const unit of units.toReversed()) {
    if (kept.has(unit)) continue;
    if (why === "" && unit.messages > left.messages) why = "max_messages";
    if (why === "" && unit.tokens > left.tokens) why = "max_tokens";
    if (why !== "" && unit.messages > 0) continue;
    take(unit, left);
    kept.add(unit);
  }
  return why;
}

function mandatory(all: readonly Sourced[], units: readonly Unit[]): Unit[] {
  const newestUser = all.findLastIndex((one) => one.message.role === "user");
  const last = units.at(-1);
  const end = all.at(-1);
  const asked = last !== undefined && end !== undefined && isToolResult(end.message) ? [last] : [];
  return [...units.filter((unit) => unit.first <= newestUser && newestUser <= unit.last), ...asked];
}

function unitsOf(all: readonly Sourced[], tokens: readonly number[]): Unit[] {
  const ends = exchangeEnds(all);
  const units: Unit[] = [];
  for (let first = 0; first < all.length; ) {
    let last = first;
    for (let index = first; index <= last; index++) last = Math.max(last, ends[index] ?? index);
    units.push(unitOf(all, tokens, first, last));
    first = last + 1;
  }
  return units;
}

function unitOf(all: readonly Sourced[], tokens: readonly number[], first: number, last: number): Unit {
  const counted: number[] = [];
  for (let index = first; index <= last; index++) if (all[index]?.free === false) counted.push(index);
  return {
    first,
    last,
    messages: counted.length,
    tokens: counted.reduce((sum, index) => sum + (tokens[index] ?? 0), 0),
  };
}

/** For each message the index of the last result of its calls; its own index where there is none. */
function exchangeEnds(all: readonly Sourced[]): number[] {
  const ends = [...all.keys()];
  const callers = new Map<string, number>();
  all.forEach(({ message }, index) => {
    for (const call of toolCallsOf(message)) callers.set(call.id, index);
    if (!isToolResult(message)) return;
    const caller = callers.get(message.toolCallId);
    if (caller !== undefined) ends[caller] = index;
  });
  return ends;
}
