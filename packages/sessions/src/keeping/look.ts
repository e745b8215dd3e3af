/**
 * What has to be known of a log before it is put away or opened again, without reading all of it: what stands at the ends
 * of its branches, and its last lines.
 *
 * A call of ours is followed by its results before anything else is said on its branch, so what is open stands at an end.
 * Invariant: what is found open here is open by the word of the whole log (`stateOf`), which is read before it is said.
 */
import { isObject } from "@holdfast/base";
import { type Entry, isCustom, isMessage, isToolResult, parseLine, toolCallsOf } from "../entry.ts";
import { readHeader } from "../reading/header.ts";
import { backward } from "../reading/lines.ts";
import type { ByteSource } from "../reading/source.ts";
import { readTail } from "../reading/tail.ts";
import type { Outline } from "../sidecar/outline.ts";
import { Places } from "../sidecar/places.ts";
import { SIDECAR_FROM_BYTES } from "../sidecar/sidecar-file.ts";
import { endNodes, entriesOf, type SaidTree, saidIn } from "../sidecar/said.ts";
import type { Reading } from "../store.ts";
import { type LogState, type Mark, markOf, mayBeOpen, stateOf } from "./marks.ts";

/** Branches whose ends are in memory at the same time. */
const TOGETHER = 100;

/** The state of the log as it was read. The reading stays the caller's. */
export async function lookAt(now: Reading): Promise<LogState> {
  // A short log has no index, and is read faster than one is made.
  if (now.source.size < SIDECAR_FROM_BYTES) return stateOf(now.source);
  const places = new Places(async () => ({ ...now, async [Symbol.asyncDispose]() {} }));
  const quiet = await places.run(quietState);
  return quiet ?? stateOf(now.source);
}

/** Undefined: something may be open. */
async function quietState(tree: Outline, source: ByteSource): Promise<LogState | undefined> {
  const said = saidIn(tree);
  const ends = endNodes(tree, said);
  for (let at = 0; at < ends.length; at += TOGETHER) {
    if (await mayWait(tree, said, ends.slice(at, at + TOGETHER))) return undefined;
  }
  const leaf = await tree.leaf();
  const id = leaf === -1 ? null : (await tree.read(leaf)).id;
  const { version } = await readHeader(source);
  return { leaf: id, version, mark: await markAbove(tree, said, leaf), openCalls: [], openApprovals: [] };
}

async function mayWait(tree: Outline, said: SaidTree, ends: readonly number[]): Promise<boolean> {
  const trails = ends.flatMap((end) => customsBelow(tree, said, end));
  const entries = await entriesOf(tree, [...ends, ...trails]);
  if (trails.some((node) => isAsked(entries.get(node)))) return true;
  for (const end of ends) if (await lacksResult(tree, said, end, entries)) return true;
  return false;
}

/** State that was written after the last thing said on a branch. */
function customsBelow(tree: Outline, { last, trail }: SaidTree, end: number): readonly number[] {
  const found: number[] = [];
  for (let node = last[end]!; node !== end; node = trail[node]!) if (tree.typeOf(node) === "custom") found.push(node);
  return found;
}

function isAsked(entry: Entry | undefined): boolean {
  const data = entry !== undefined && isCustom(entry, "holdfast:approval") ? entry.data : undefined;
  return isObject(data) && typeof data.key === "string" && (data.answered ?? null) === null;
}

/** From the end up over results to the calls that they answer. */
async function lacksResult(
  tree: Outline,
  { before }: SaidTree,
  end: number,
  known: ReadonlyMap<number, Entry>,
): Promise<boolean> {
  const answered: string[] = [];
  for (let node = end; node !== -1; node = before[node]!) {
    const entry = known.get(node) ?? (await tree.read(node));
    if (!isMessage(entry)) return false;
    if (isToolResult(entry.message)) answered.push(entry.message.toolCallId);
    else return mayBeOpen(entry) && !isAnswered(entry, answered);
  }
  return false;
}

function isAnswered(entry: Entry, answered: string[]): boolean {
  const calls = isMessage(entry) ? toolCallsOf(entry.message) : [];
  return calls.every(({ id }) => {
    const at = answered.indexOf(id);
    // A provider may give two calls of one answer the same id: each needs a result of its own.
    if (at !== -1) answered.splice(at, 1);
    return at !== -1;
  });
}

/** The mark that stands after the last thing said on the branch of the leaf. */
async function markAbove(tree: Outline, { tips }: SaidTree, leaf: number): Promise<Mark | null> {
  for (let node = leaf; node !== -1 && node !== tips[node]; node = tree.parentOf(node)) {
    const mark = tree.typeOf(node) === "custom" ? markOf(await tree.read(node)) : undefined;
    if (mark !== undefined) return mark;
  }
  return null;
}

export type Standing = Pick<LogState, "leaf" | "version" | "mark">;

/** Where a log stands and what its last mark says: read from its end, as far back as that mark. */
export async function standingOf(source: ByteSource): Promise<Standing> {
  const { path, version, report } = await readTail(source);
  const stale = new Set(report.stale.map(({ offset }) => offset));
  return { leaf: path.at(-1)?.id ?? null, version, mark: await lastMark(source, stale) };
}

const MARKS = ["holdfast:closed", "holdfast:opened"];

async function lastMark(source: ByteSource, stale: ReadonlySet<number>): Promise<Mark | null> {
  for await (const { bytes, offset } of backward(source)) {
    if (bytes === null || stale.has(offset) || !MARKS.some((kind) => bytes.includes(kind))) continue;
    const parsed = parseLine(bytes);
    const mark = parsed.kind === "entry" ? markOf(parsed.entry) : undefined;
    if (mark !== undefined) return mark;
  }
  return null;
}
