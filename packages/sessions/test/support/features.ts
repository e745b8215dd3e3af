/** Random files of all three versions, and what is in them: what a histogram counts, singly and in pairs. */
import fc from "fast-check";
import { type Entry, fieldsOf, isMessage, isToolResult, toolCallsOf } from "../../src/entry.ts";
import { fileOf, HEADER } from "./make.ts";
import { chains, longTranscripts } from "./trees.ts";

export interface RandomFile {
  readonly version: 1 | 2 | 3;
  /** As version 3 has them. */
  readonly entries: readonly Entry[];
  readonly text: string;
}

/** A quarter is of version 1, a quarter of version 2. */
export const randomFiles: fc.Arbitrary<RandomFile> = fc.oneof(
  chains.map((entries) => ({ version: 1 as const, entries, text: firstVersion(entries) })),
  longTranscripts.map((entries) => ({ version: 2 as const, entries, text: secondVersion(entries) })),
  longTranscripts.map((entries) => ({ version: 3 as const, entries, text: fileOf(entries) })),
  longTranscripts.map((entries) => ({ version: 3 as const, entries, text: fileOf(entries) })),
);

/** No ids and no parents; a compaction names the line it keeps from, the header's being 0. */
function firstVersion(entries: readonly Entry[]): string {
  const lines = new Map(entries.map((entry, index) => [entry.id, index + 1]));
  const old = entries.map((entry) => {
    const { id: _, parentId: __, firstKeptEntryId, ...rest } = fieldsOf(entry);
    const kept = typeof firstKeptEntryId === "string" ? lines.get(firstKeptEntryId) : undefined;
    return kept === undefined ? rest : { ...rest, firstKeptEntryIndex: kept };
  });
  const { version: _, ...header } = HEADER;
  return fileOf(old, header);
}

function secondVersion(entries: readonly Entry[]): string {
  return fileOf(entries.map(withOldRole), { ...HEADER, version: 2 });
}

function withOldRole(entry: Entry): unknown {
  if (!isMessage(entry) || entry.message.role !== "custom") return entry;
  return { ...entry, message: { ...entry.message, role: "hookMessage" } };
}

const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  compactions: ["compaction"],
  edits: ["context_edit"],
  "branch summaries": ["branch_summary"],
  "custom entries": ["custom"],
  "custom messages": ["custom_message"],
  labels: ["label"],
  settings: ["model_change", "thinking_level_change"],
};

const VERSIONS = ["version 1", "version 2", "version 3"] as const;

export const FEATURES: readonly string[] = [
  ...Object.keys(OF_TYPE),
  "branches",
  "leaf moves",
  "calls with results",
  "images",
  ...VERSIONS,
];

/** A file has one version. Entries of version 1 have no ids: nothing can branch off, move to, change or label them. */
export function isPossible(one: string, other: string): boolean {
  const versions = [one, other].filter((each) => each.startsWith("version"));
  if (versions.length === 2) return false;
  const nameless = ["branches", "leaf moves", "edits", "labels"];
  return !(versions[0] === "version 1" && (nameless.includes(one) || nameless.includes(other)));
}

export function featuresOf({ version, entries }: RandomFile): ReadonlySet<string> {
  const found = new Set<string>([`version ${version}`]);
  for (const [name, types] of Object.entries(OF_TYPE)) {
    if (entries.some((entry) => types.includes(entry.type) && !isLeafMove(entry))) found.add(name);
  }
  const parents = entries.map((entry) => entry.parentId);
  if (new Set(parents).size < parents.length) found.add("branches");
  if (entries.some(isLeafMove)) found.add("leaf moves");
  if (entries.some((entry) => JSON.stringify(entry).includes('"type":"image"'))) found.add("images");
  if (hasAnsweredCall(entries)) found.add("calls with results");
  return found;
}

function isLeafMove(entry: Entry): boolean {
  return entry.type === "custom" && fieldsOf(entry).customType === "holdfast:leaf";
}

/** A result below the message that calls for it. */
function hasAnsweredCall(entries: readonly Entry[]): boolean {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const above = (entry: Entry) => byId.get(entry.parentId ?? "");
  return entries.some((entry) => {
    if (!isMessage(entry) || !isToolResult(entry.message)) return false;
    const { toolCallId } = fieldsOf(entry.message);
    let at = above(entry);
    while (at !== undefined && !(isMessage(at) && toolCallsOf(at.message).some(({ id }) => id === toolCallId))) {
      at = above(at);
    }
    return at !== undefined;
  });
}
