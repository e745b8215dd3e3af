/**
 * A bare transcript file: is it sound, what would the model see, what does its tree look like. Reads only; needs no
 * store, no index and no lock, so it works on files of other programs and on damaged ones.
 * Invariant: a file that `verifyTranscript` finds ok has the context that Pi 1.6.0 builds from it.
 */
import { CallLedger, type OpenCall } from "./calls.ts";
import { type Entry, fieldsOf, type Header, isMessage } from "./entry.ts";
import { SessionError } from "./errors.ts";
import { noteLabel } from "./labels.ts";
import { project, type Settings } from "./projection.ts";
import { type ByteSource, openSource } from "./reading/source.ts";
import { type Loaded, lacksSettings, readTail } from "./reading/tail.ts";
import { type EntryRef, readWhole, type Whole } from "./reading/whole.ts";
import { keptSettings } from "./sidecar/kept.ts";
import { type Disk, realDisk } from "./stores/file/disk.ts";
import { excerptOf } from "./text.ts";
import type { Tree } from "./tree.ts";
import type { Context, ContextOptions, OpenReport } from "./types.ts";

/** What `holdfast transcript verify` prints. `ok` is about damage; open calls alone do not make it false. */
export interface TranscriptReport {
  readonly ok: boolean;
  readonly entries: number;
  readonly leaf: string | null;
  readonly header: { readonly state: OpenReport["header"]; readonly version: number; readonly id: string | null };
  readonly damaged: OpenReport["damaged"];
  readonly gaps: OpenReport["gaps"];
  readonly duplicates: OpenReport["duplicates"];
  readonly stale: OpenReport["stale"];
  /** Harmless: `ok` does not depend on it. */
  readonly noted: OpenReport["noted"];
  readonly openCalls: readonly OpenCall[];
}

/** Reads the whole file, line by line. Throws `file_missing`, `not_a_file`, `read_failed`, `not_a_transcript`. */
export async function verifyTranscript(path: string): Promise<TranscriptReport> {
  await using source = await openSource(path);
  const calls = new CallLedger();
  const whole = await readWhole(source, (entry, index, tree) => calls.take(entry, index, tree));
  refuseOther(path, whole);
  const { report, header, tree } = whole;
  const gaps = [...report.gaps, ...lostKeptEntries(tree)];
  const damaged = whole.cut === null ? report.damaged : [...report.damaged, missingReturn(whole.cut)];
  const findings = damaged.length + gaps.length + report.duplicates.length + report.stale.length;
  return {
    ok: findings === 0 && header.state === "ok",
    entries: tree.size,
    leaf: leafOf(whole),
    header: { state: header.state, version: header.version, id: idOf(header.header) },
    damaged,
    gaps,
    duplicates: report.duplicates,
    stale: report.stale,
    noted: report.noted,
    openCalls: calls.open(),
  };
}

/** Throws `not_a_transcript` when not one line of a file is an entry or a header. */
export function refuseOther(path: string, whole: Whole): void {
  const isEmpty = whole.lines === 0;
  if (isEmpty || (whole.tree.size === 0 && whole.header.header === null)) {
    throw new SessionError("not_a_transcript", { path, lines: whole.lines });
  }
}

function leafOf(whole: Whole): string | null {
  return whole.tree.nodes[whole.leaf]?.id ?? null;
}

function idOf(header: Header | null): string | null {
  if (header === null) return null;
  const { id } = fieldsOf(header);
  return typeof id === "string" ? id : null;
}

/** Compactions whose first kept entry is not above them: read as "everything since the compaction before". */
function lostKeptEntries(tree: Tree<EntryRef>): OpenReport["gaps"][number][] {
  return tree.nodes.flatMap((ref, index) => {
    const kept = ref.firstKeptEntryId;
    if (kept === undefined || kept === ref.id || isAbove(tree, kept, index)) return [];
    const bridgedTo = compactionAbove(tree, index)?.id ?? null;
    return [{ id: ref.id, parentId: kept, bridgedTo, line: ref.line, offset: ref.offset }];
  });
}

/** By name: the id may have come again since, for another entry. */
function isAbove(tree: Tree<EntryRef>, id: string, index: number): boolean {
  if (tree.indexOf(id) === -1) return false;
  let at = tree.parentOf(index);
  while (at !== -1 && tree.nodes[at]?.id !== id) at = tree.parentOf(at);
  return at !== -1;
}

function compactionAbove(tree: Tree<EntryRef>, index: number): EntryRef | undefined {
  let at = tree.parentOf(index);
  while (at !== -1 && tree.nodes[at]?.type !== "compaction") at = tree.parentOf(at);
  return tree.nodes[at];
}

function missingReturn(ref: EntryRef): OpenReport["damaged"][number] {
  const why = `the line that returns to ${ref.returnTo} is missing after this one`;
  return { line: ref.line, offset: ref.offset, bytes: ref.length, why };
}

/**
 * The model's context, as a session over this file would have it. For a file that is ok, and without limits, `messages`,
 * `model` and `thinkingLevel` equal Pi's. Throws as `verifyTranscript` does, and `entry_missing` for an unknown leaf.
 */
export async function contextOfTranscript(
  path: string,
  options: ContextOptions = {},
  disk: Disk = realDisk,
): Promise<Context> {
  await using source = await openSource(path, disk);
  const { leaf, ...limits } = options;
  const loaded = await readTail(source, { leaf });
  if (loaded.path.length === 0 && loaded.header === null) refuseOther(path, await readWhole(source));
  const earlier = lacksSettings(loaded) ? await settingsOf(loaded, { path, source, disk }, leaf) : loaded.earlier;
  return project(loaded.path, { ...limits, whole: loaded.whole, earlier });
}

/** From the index beside the file, or by reading on. */
async function settingsOf(
  { path: entries }: Loaded,
  { path, source, disk }: { readonly path: string; readonly source: ByteSource; readonly disk: Disk },
  leaf: string | undefined,
): Promise<Settings | null> {
  const kept = await keptSettings(disk, { path, source }, entries.at(-1)?.id ?? "");
  return kept ?? (await readTail(source, { leaf, settings: true })).earlier;
}

/** One entry of the tree, without its content: `text` is the beginning of what it says. */
export interface TranscriptNode {
  readonly id: string;
  /** As the tree has it, after gaps were bridged. */
  readonly parentId: string | null;
  readonly type: string;
  readonly role: string | null;
  readonly timestamp: string;
  readonly text: string;
  readonly label: string | null;
  /** Whether it is on the path to the leaf. */
  readonly current: boolean;
}

export interface TranscriptTree {
  readonly leaf: string | null;
  /** In file order: a parent stands before its children. */
  readonly nodes: readonly TranscriptNode[];
  readonly report: OpenReport;
}

/** The whole tree in file order. Throws as `verifyTranscript` does. */
export async function treeOfTranscript(path: string): Promise<TranscriptTree> {
  await using source = await openSource(path);
  const labels = new Map<string, string>();
  const seen: Pick<TranscriptNode, "role" | "timestamp" | "text">[] = [];
  const whole = await readWhole(source, (entry) => {
    seen.push({ role: roleOf(entry), timestamp: entry.timestamp, text: excerptOf(entry) });
    noteLabel(labels, entry);
  });
  refuseOther(path, whole);
  const { tree } = whole;
  const current = new Set(tree.pathTo(whole.leaf));
  const nodes = tree.nodes.map((ref, index): TranscriptNode => {
    const { role, timestamp, text } = seen[index] ?? { role: null, timestamp: "", text: "" };
    const parentId = tree.nodes[tree.parentOf(index)]?.id ?? null;
    const label = labels.get(ref.id) ?? null;
    return { id: ref.id, parentId, type: ref.type, role, timestamp, text, label, current: current.has(ref) };
  });
  return { leaf: leafOf(whole), nodes, report: whole.report };
}

function roleOf(entry: Entry): string | null {
  return isMessage(entry) ? entry.message.role : null;
}
