/**
 * A transcript's tree as text: the current branch straight down, what was left beside it. Pure, and without recursion: paths
 * have no limit. Needs what `treeOfTranscript` promises: a parent stands before its children.
 */
import type { TranscriptNode } from "@holdfast/sessions/internal";
import { type Palette, printable } from "./output.ts";

/** Deeper branches of branches are not indented further. */
const INDENT_CHARS_MAX = 45;

interface Branch {
  readonly node: TranscriptNode;
  /** What stands before this line, and before those that follow it. */
  readonly first: string;
  readonly rest: string;
}

function childrenOf(nodes: readonly TranscriptNode[]): ReadonlyMap<string | null, readonly TranscriptNode[]> {
  const children = new Map<string | null, TranscriptNode[]>();
  for (const node of nodes) {
    const siblings = children.get(node.parentId);
    if (siblings === undefined) children.set(node.parentId, [node]);
    else siblings.push(node);
  }
  return children;
}

/** Children in the order in which they are drawn: the one that goes straight on is the last. */
function branches(children: readonly TranscriptNode[], rest: string): readonly Branch[] {
  const straight = children.find((node) => node.current) ?? children.at(-1);
  const deeper = rest.length < INDENT_CHARS_MAX;
  const sides = children
    .filter((node) => node !== straight)
    .map((node) => ({ node, first: deeper ? `${rest}├─ ` : rest, rest: deeper ? `${rest}│  ` : rest }));
  return straight === undefined ? sides : [...sides, { node: straight, first: rest, rest }];
}

/** One line per entry. */
export function drawTree(nodes: readonly TranscriptNode[], leaf: string | null, paint: Palette): readonly string[] {
  const children = childrenOf(nodes);
  const waiting = [...branches(children.get(null) ?? [], "")].reverse();
  const lines: string[] = [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    lines.push(`${paint.dim(next.first)}${drawNode(next.node, leaf, paint)}`);
    waiting.push(...[...branches(children.get(next.node.id) ?? [], next.rest)].reverse());
  }
  return lines;
}

function drawNode(node: TranscriptNode, leaf: string | null, paint: Palette): string {
  const mark = node.current ? paint.green("●") : paint.dim("○");
  const label = node.label === null ? "" : ` ${paint.yellow(`[${printable(node.label)}]`)}`;
  const here = node.id === leaf ? paint.green("  ← here") : "";
  const text = printable(node.text).replace(/\s+/g, " ");
  return `${mark} ${paint.dim(printable(node.id))} ${node.role ?? node.type}${label}${text === "" ? "" : `  ${text}`}${here}`;
}
