/**
 * Compaction: one entry that stands for everything before it, and the newest part after that as it was.
 *
 * [ cut → summary → entry ]
 * Invariants: the entry is the one point of change, and nothing else is written; the old part stays in the log; a summary that
 * is none replaces nothing; what others wrote while the model was thinking stays behind the entry.
 */
import { LIMITS, type World } from "@holdfast/base";
import { type Appended, approximateTokens, fieldsOf, type NewEntry, type Session } from "@holdfast/sessions";
import type { Model } from "../../types.ts";
import { type Cut, cutOf, isOfSummary, type Sized } from "./cut.ts";
import { shortened, transcribed } from "./prompt.ts";
import { summarise } from "./summarise.ts";

/** Settings of `agents.*.compaction` and `sessions.compactionStrategy`. */
export interface CompactionSettings {
  readonly strategy: "summary" | "truncate";
  readonly keepRecentTokens: number;
  readonly keepRecentMessages: number | null;
  readonly instructions: string | null;
  /** Kept free for the answer. */
  readonly reserveTokens: number;
  /** Whether it is done without being asked for. */
  readonly auto: boolean;
}

export interface CompactionWork {
  readonly session: Session;
  /** Appends one entry, under the turn right. */
  add(entry: NewEntry): Promise<Pick<Appended, "entries">>;
  /** Who writes the summary. */
  readonly model: Model;
  readonly world: World;
  readonly settings: CompactionSettings;
  readonly signal: AbortSignal;
}

export interface CompactionAsked {
  /** What a person wants kept above all, or null. */
  readonly focus: string | null;
  /** `manual`: a summary that fails leaves everything as it is; else the oldest part is left out without one. */
  readonly reason: "manual" | "threshold" | "overflow" | "size";
}

interface Size {
  readonly messages: number;
  readonly tokens: number;
}

export type Compacted =
  | {
      readonly kind: "compacted";
      readonly entryId: string;
      readonly strategy: CompactionSettings["strategy"];
      readonly before: Size;
      readonly after: Size;
      /** Why it was not done as configured; null: it was. */
      readonly instead: string | null;
    }
  /** Nothing can be left out: all of it is the newest part. */
  | { readonly kind: "nothing" }
  | { readonly kind: "failed"; readonly why: string };

/** Windows that nobody knows are taken for this. */
const WINDOW_TOKENS = 32_000;

/** A conversation that is smaller is left as it is. */
const WORTH_TOKENS = 500;

/** What stands for what was left out without a summary. */
export const TRUNCATED = "[Earlier messages are not shown, to make room. They are in the log.]";

/** Throws what the session throws. */
export async function compact(work: CompactionWork, { focus, reason }: CompactionAsked): Promise<Compacted> {
  const { session, settings } = work;
  const context = await session.context();
  const all = context.messages.map((message, at): Sized => {
    return { message, entryId: context.entryIds[at] ?? "", tokens: approximateTokens(message) };
  });
  const tail = { keepTokens: settings.keepRecentTokens, keepMessages: settings.keepRecentMessages };
  const cut = cutOf(all, await tailFor(work, tail, all));
  if (cut === null || sizeOf(all).tokens < WORTH_TOKENS) return { kind: "nothing" };
  const made = settings.strategy === "truncate" ? null : await summaryOf(work, { all, cut, focus });
  if (made?.kind === "failed" && (reason === "manual" || work.signal.aborted)) return made;
  const isSummary = made?.kind === "summary";
  const summary = isSummary ? made.text : truncatedText(all, cut);
  const before = sizeOf(all);
  const strategy = isSummary ? "summary" : "truncate";
  const entry = {
    type: "compaction",
    summary,
    firstKeptEntryId: all[cut.at]?.entryId ?? "",
    tokensBefore: before.tokens,
    details: { strategy, originalCount: cut.at, reason },
  };
  work.world.at("compaction:before-append");
  const { entries } = await work.add(entry);
  work.world.at("compaction:after-append");
  const now = await session.context();
  const after = {
    messages: now.messages.length,
    tokens: now.messages.reduce((sum, one) => sum + approximateTokens(one), 0),
  };
  const instead = made?.kind === "failed" ? made.why : null;
  return { kind: "compacted", entryId: entries[0]?.id ?? "", strategy, before, after, instead };
}

/** The newest part is at most a third of the window, and half of what there is: who asks for it wants less. */
async function tailFor(
  { model }: CompactionWork,
  tail: { readonly keepTokens: number; readonly keepMessages: number | null },
  all: readonly Sized[],
) {
  const window = await windowOf(model);
  const keepTokens = Math.min(tail.keepTokens, Math.floor(window / 3), Math.floor(sizeOf(all).tokens / 2));
  return { ...tail, keepTokens };
}

async function windowOf(model: Model): Promise<number> {
  const window = (await model.contextWindow?.()) ?? Number.POSITIVE_INFINITY;
  return Number.isFinite(window) ? window : WINDOW_TOKENS;
}

function sizeOf(all: readonly Sized[]): Size {
  return { messages: all.length, tokens: all.reduce((sum, { tokens }) => sum + tokens, 0) };
}

interface ToReplace {
  readonly all: readonly Sized[];
  readonly cut: Cut;
  readonly focus: string | null;
}

async function summaryOf({ model, settings, signal, session }: CompactionWork, { all, cut, focus }: ToReplace) {
  const replaced = all.slice(0, cut.at).map(({ message }) => message);
  const window = await windowOf(model);
  const made = await summarise(
    {
      earlier: earlierIn(replaced.map((message) => fieldsOf(message).summary)),
      texts: replaced.filter((message) => !isOfSummary(message)).map(transcribed),
      focus,
    },
    { model, window, instructions: settings.instructions, signal, sessionId: session.id },
  );
  return made.kind === "summary" ? { ...made, text: `${made.text}${questionIn(all, cut)}` } : made;
}

function earlierIn(summaries: readonly unknown[]): string | null {
  const earlier = summaries.filter((one) => typeof one === "string");
  return earlier.length === 0 ? null : earlier.join("\n\n");
}

/** The person's message whose answer goes on behind the cut, in its own words. */
function questionIn(all: readonly Sized[], { question }: Cut): string {
  const asked = question === null ? undefined : all[question];
  return asked === undefined
    ? ""
    : `\n\n## Being worked on\n${shortened(transcribed(asked.message), LIMITS.compactionQuestionCharsMax)}`;
}

function truncatedText(all: readonly Sized[], cut: Cut): string {
  const earlier = earlierIn(all.slice(0, cut.at).map(({ message }) => fieldsOf(message).summary));
  const said = earlier === null ? TRUNCATED : earlier.includes(TRUNCATED) ? earlier : `${earlier}\n\n${TRUNCATED}`;
  return `${said}${questionIn(all, cut)}`;
}
