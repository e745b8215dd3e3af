/**
 * One view of a transcript's tree for those who ask about single entries: nodes in file order, content read when asked.
 * Behind it stands an index, or, for files that an index cannot judge, everything read from the first line to the last.
 * Invariant: an entry is given out only after its own line said that it is the one; a place that turns out wrong is an
 * error (`WrongPlace`), never an answer.
 */
import { type Entry, parseLine } from "../entry.ts";
import type { ByteSource } from "../reading/source.ts";
import { readWhole } from "../reading/whole.ts";
import type { LineIndex } from "./line-index.ts";
import type { NodeTree } from "./node-tree.ts";
import type { SlotList } from "./slot-list.ts";
import { KINDS, LINKED } from "./slots.ts";

/** Nodes are numbered in file order; -1 stands for "above the root", and for "none". */
export interface Outline {
  readonly size: number;
  /** Whether ids are used twice, or the file holds what makes more than single lines of it matter. */
  readonly hasOddities: boolean;
  /** Smaller than the node. */
  parentOf(node: number): number;
  /** The entry's type, or "" for one that is not of the format's own. */
  typeOf(node: number): string;
  /** Milliseconds since 1970, or NaN. */
  timeOf(node: number): number;
  /** A repetition of an earlier entry, or one that came too late: no part of the tree. */
  isPassedOver(node: number): boolean;
  /** Bytes: where its line begins, and the one after. */
  offsetOf(node: number): number;
  endOf(node: number): number;
  /** The node with this id (of several: the last), or -1. */
  find(id: string): Promise<number>;
  read(node: number): Promise<Entry>;
  /** Several at once, in the order given; neighbours in the file are read together. */
  readAll(nodes: readonly number[]): Promise<Entry[]>;
  /** Where the conversation stands, or -1. */
  leaf(): Promise<number>;
}

/** What stands somewhere is not what the index says. */
export class WrongPlace extends Error {}

export function outlineOfIndex({ tree }: LineIndex, source: ByteSource): Outline {
  const { slots } = tree;
  const endOf = (node: number): number => slots.offsetOf(node) + slots.lengthOf(node) + 1;
  const parse = (node: number, line: Buffer): Entry => {
    const parsed = parseLine(line);
    if (parsed.kind !== "entry" || !isAt(slots, node, parsed.entry)) throw new WrongPlace();
    return parsed.entry;
  };
  const read = async (node: number): Promise<Entry> =>
    parse(node, await source.read(slots.offsetOf(node), slots.lengthOf(node)));
  const readAll = async (nodes: readonly number[]): Promise<Entry[]> => {
    const entries = new Map<number, Entry>();
    for (const run of runsOf(nodes, slots)) {
      const from = slots.offsetOf(run[0] ?? 0);
      const bytes = await source.read(from, endOf(run.at(-1) ?? 0) - from);
      for (const node of run) {
        const at = slots.offsetOf(node) - from;
        entries.set(node, parse(node, bytes.subarray(at, at + slots.lengthOf(node))));
      }
    }
    return nodes.flatMap((node) => entries.get(node) ?? []);
  };
  const find = async (id: string): Promise<number> => {
    const node = tree.find(id);
    return node === -1 || (await read(node)).id !== id ? -1 : node;
  };
  return {
    size: tree.size,
    hasOddities: tree.repeats > 0,
    parentOf: (node) => tree.parentOf(node),
    typeOf: (node) => KINDS[slots.kindOf(node)] ?? "",
    timeOf: (node) => slots.timeOf(node),
    isPassedOver: (node) => tree.isPassedOver(node),
    offsetOf: (node) => slots.offsetOf(node),
    endOf,
    find,
    read,
    readAll,
    leaf: () => leafAmong(lastNode(tree), read, find),
  };
}

/** Whether this is the entry that the index saw there: of a field that stands twice in a line it saw the first, not the last. */
function isAt(slots: SlotList, node: number, { id, parentId }: Entry): boolean {
  const link = slots.linkOf(node);
  const isLink = typeof parentId === "string" ? link !== LINKED || slots.isParentOf(node, parentId) : link !== LINKED;
  return slots.isIdOf(node, id) && isLink;
}

/** Bytes that are read together, and how many between two of them may be read for nothing. */
const RUN_BYTES = 2 ** 20;
const GAP_BYTES = 2 ** 14;

/** Nodes in file order, in runs that stand close together. */
function runsOf(nodes: readonly number[], slots: SlotList): number[][] {
  const runs: number[][] = [];
  for (const node of [...nodes].sort((a, b) => a - b)) {
    const run = runs.at(-1);
    const [first = 0, last = 0] = [run?.[0], run?.at(-1)];
    const isNear = slots.offsetOf(node) - slots.offsetOf(last) - slots.lengthOf(last) <= GAP_BYTES;
    const isShort = slots.offsetOf(node) - slots.offsetOf(first) <= RUN_BYTES;
    if (run !== undefined && isNear && isShort) run.push(node);
    else runs.push([node]);
  }
  return runs;
}

function lastNode(tree: NodeTree): number {
  let node = tree.size - 1;
  while (node >= 0 && tree.isPassedOver(node)) node -= 1;
  return node;
}

async function leafAmong(last: number, read: Outline["read"], find: Outline["find"]): Promise<number> {
  if (last === -1) return -1;
  const { returnTo } = await read(last);
  const returned = typeof returnTo === "string" ? await find(returnTo) : -1;
  return returned === -1 ? last : returned;
}

/** Reads everything, once: what it answers is what reading the whole file answers. */
export async function outlineOfWhole(source: ByteSource): Promise<Outline> {
  const times: number[] = [];
  const whole = await readWhole(source, (entry) => times.push(Date.parse(entry.timestamp)));
  const { tree } = whole;
  const refOf = (node: number) => {
    const ref = tree.nodes[node];
    if (ref === undefined) throw new RangeError(`no node ${node} in a tree of ${tree.size}`);
    return ref;
  };
  const known: ReadonlySet<string> = new Set(KINDS);
  return {
    size: tree.size,
    hasOddities: true,
    parentOf: (node) => tree.parentOf(node),
    typeOf: (node) => (known.has(refOf(node).type) ? refOf(node).type : ""),
    timeOf: (node) => times[node] ?? Number.NaN,
    isPassedOver: (node) => whole.isStale(node),
    offsetOf: (node) => refOf(node).offset,
    endOf: (node) => refOf(node).offset + refOf(node).length + 1,
    find: async (id) => (whole.isStale(tree.indexOf(id)) ? -1 : tree.indexOf(id)),
    read: (node) => whole.read(refOf(node)),
    readAll: (nodes) => Array.fromAsync(nodes, (node) => whole.read(refOf(node))),
    leaf: async () => whole.leaf,
  };
}
