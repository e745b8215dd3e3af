/**
 * Room for the next answer: before a question that would hardly fit, and after one that did not.
 *
 * Whether there is need follows from the log alone, so a first run and a life after a kill decide the same.
 * Invariants: a compaction that brought nothing is not repeated; nothing here keeps a question from being asked; for one
 * question room is made at most twice after an overflow.
 */
import { approximateTokens, type Entry, fieldsOf, isCompaction } from "@holdfast/sessions";
import { isObject } from "@holdfast/base";
import { isAnswer, isUser } from "../../entries.ts";
import { REHEARSAL } from "../../model/rehearsal.ts";
import { append, placeOf, sinceStart, type Work } from "../../work.ts";
import { COMPACTION } from "./by-hand.ts";
import { type CompactionAsked, compact } from "./compact.ts";

/** System prompt and tools, where no provider has said what they cost. */
const FIXED_TOKENS = 6_000;
const AFTER_OVERFLOW_MAX = 2;

/** Whether the next question, as far as is known, fits into the window less what the answer needs. Pure. */
export function isFull(
  path: readonly Entry[],
  { window, reserve }: { readonly window: number; readonly reserve: number },
): boolean {
  if (!Number.isFinite(window)) return false;
  return tokensOf(path) > window - Math.min(reserve, Math.floor(window / 2));
}

/** What a provider counted last, and an estimate of what came since. */
function tokensOf(path: readonly Entry[]): number {
  const compacted = path.findLastIndex(isCompaction);
  const counted = path.findLastIndex((entry, at) => at > compacted && countedIn(entry) > 0);
  const entry = path[counted];
  if (entry !== undefined) return countedIn(entry) + estimate(path.slice(counted + 1));
  return FIXED_TOKENS + estimate(path.slice(Math.max(0, compacted)));
}

function countedIn(entry: Entry): number {
  if (!isAnswer(entry) || !isObject(entry.message.usage)) return 0;
  const { totalTokens } = entry.message.usage;
  return typeof totalTokens === "number" ? totalTokens : 0;
}

function estimate(entries: readonly Entry[]): number {
  return entries.reduce((sum, entry) => {
    const { message, summary } = fieldsOf(entry);
    if (typeof summary === "string") return sum + approximateTokens({ role: "note", content: summary });
    return isObject(message) ? sum + approximateTokens(message as { role: string }) : sum;
  }, 0);
}

/** Compacts where the window is nearly full. Whatever comes of it, the question is asked. */
export async function makeRoomBefore(work: Work): Promise<void> {
  const { agent, session } = work;
  const { auto, reserveTokens } = agent.compaction ?? COMPACTION;
  const window = auto ? await agent.model.contextWindow?.() : undefined;
  if (window === undefined) return;
  const path = session.path();
  if (!isFull(path, { window, reserve: reserveTokens })) return;
  // Nothing was said since the last one: another one would bring nothing.
  const last = path.findLastIndex(isCompaction);
  if (last >= 0 && !path.slice(last + 1).some((entry) => isAnswer(entry) || isUser(entry))) return;
  await makeRoom(work, "threshold");
}

/** After an overflow: whether the question should be asked again. */
export async function makeRoomAfter(work: Work): Promise<boolean> {
  const since = await sinceStart(work);
  const answered = since.findLastIndex(isAnswer);
  const tries = since.filter((entry, at) => at > answered && isCompaction(entry) && reasonOf(entry) === "overflow");
  return tries.length < AFTER_OVERFLOW_MAX && makeRoom(work, "overflow");
}

function reasonOf(entry: Entry): unknown {
  const { details } = fieldsOf(entry);
  return isObject(details) ? details.reason : undefined;
}

/** True when there is more room now. */
async function makeRoom(work: Work, reason: CompactionAsked["reason"]): Promise<boolean> {
  const { agent, session, signal } = work;
  // A branch that a person chose meanwhile is not this question's.
  if ((await placeOf(work)) !== session.leaf()) return false;
  const { model, world } = agent;
  const settings = agent.compaction ?? COMPACTION;
  const strategy = model.name === REHEARSAL ? "truncate" : settings.strategy;
  const add = (entry: Parameters<typeof append>[1][number]) => append(work, [entry]);
  const made = await compact(
    { session, model, world, settings: { ...settings, strategy }, signal, add },
    { focus: null, reason },
  );
  if (made.kind !== "compacted") return false;
  if (made.instead !== null) await tellInstead(work, made.entryId, made.instead);
  return made.after.tokens < made.before.tokens;
}

/** That the older part was left out without a summary. Whoever cannot be told is not. */
async function tellInstead({ agent, item }: Work, entryId: string, why: string): Promise<void> {
  const text = /\p{Script=Han}/u.test(item.message.text)
    ? `为腾出空间，这次对话较早的部分不再发给模型（没能写出摘要：${why}）。原文仍在记录中。`
    : `To make room the older part of this conversation is not sent to the model any more (no summary could be made: ${why}). It stays in the log.`;
  await agent.tell?.(item, { key: `compaction:${entryId}`, text });
}
