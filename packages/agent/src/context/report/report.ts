/**
 * The report of one request: what went in, what it cost in tokens, what was left out and why, and how much of it is the same
 * as in the request before. Pure.
 *
 * Invariant: it holds names, numbers and digests, nothing that was said.
 */
import { type JsonObject, sha256 } from "@holdfast/base";
import { approximateTextTokens } from "@holdfast/sessions";
import type { InjectedFile, LeftOut, RequestFacts } from "./types.ts";

/** A piece of a request by its content. */
export interface Piece {
  /** Of its bytes, hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
  readonly tokens: number;
}
export interface MessagePiece extends Piece {
  /** The entry it came from, or null. */
  readonly entryId: string | null;
}

/** A request by its pieces. */
export interface Pieces {
  readonly sections: readonly (Piece & { readonly name: string })[];
  readonly tools: Piece;
  readonly messages: readonly MessagePiece[];
}

export interface RequestTotals {
  readonly total: number;
  readonly system: number;
  readonly tools: number;
  /** All messages but the newest. */
  readonly history: number;
  readonly newest: number;
  readonly how: "counted" | "estimated";
}

/** How much of it the provider has seen before, if it keeps what it saw. */
export interface PrefixReport {
  /** Of system prompt and tools: what every request of the conversation should begin with. */
  readonly sha256: string;
  /** The request that it was compared with; null: none is known. */
  readonly with: number | null;
  /** Whether system prompt and tools are the same. */
  readonly head: boolean;
  /** Messages from the first on that are the same. */
  readonly messages: number;
  /** Whether it goes on where the one before ended. */
  readonly extends: boolean;
  /** Bytes from the beginning that are the same. */
  readonly bytes: number;
}

/** Entries of which the same is true. `ids`: the first of them. */
export interface Why {
  readonly why: string;
  readonly count: number;
  readonly ids: readonly string[];
}

export interface RequestReport {
  /** Requests of a conversation count from 1. */
  readonly n: number;
  /** ISO 8601. */
  readonly at: string;
  readonly sessionId: string;
  readonly sessionKey: string;
  /** The answer's entry; it may not have come to be. */
  readonly answerId: string;
  readonly leaf: string | null;
  readonly model: string;
  readonly family: string;
  /** Digest of the digests of its pieces, in order. */
  readonly sha256: string;
  readonly bytes: number;
  readonly tokens: RequestTotals;
  readonly prefix: PrefixReport;
  readonly sections: Pieces["sections"];
  readonly files: readonly InjectedFile[];
  readonly tools: Piece & { readonly names: readonly string[] };
  /** The summary that stands for everything before it: its entry, or null. */
  readonly compaction: string | null;
  readonly messages: number;
  readonly newest: MessagePiece | null;
  readonly leftOut: readonly Why[];
  readonly changed: readonly Why[];
  readonly limits: JsonObject;
}

/** What a report is about, besides its request. */
export interface About {
  readonly n: number;
  readonly at: string;
  readonly sessionId: string;
  readonly sessionKey: string;
  readonly answerId: string;
  readonly model: string;
}

export function pieceOf(text: string, tokens = approximateTextTokens(text)): Piece {
  return { sha256: sha256(text), bytes: Buffer.byteLength(text), tokens };
}

/** `before`: the request before it, where one is known. */
export function reportOf(
  about: About,
  facts: RequestFacts,
  {
    pieces,
    before,
  }: { readonly pieces: Pieces; readonly before: { readonly n: number; readonly pieces: Pieces } | null },
): RequestReport {
  const { sections, tools, messages } = pieces;
  const all: readonly Piece[] = [...sections, tools, ...messages];
  return {
    ...about,
    leaf: facts.leaf,
    family: facts.family,
    sha256: sha256(all.map((piece) => piece.sha256).join("\n")),
    bytes: sum(all, ({ bytes }) => bytes),
    tokens: totalsOf(pieces, facts),
    prefix: prefixOf(pieces, before),
    sections,
    files: facts.files,
    tools: { ...tools, names: facts.request.tools.map(({ name }) => name) },
    compaction: facts.compaction ?? null,
    messages: messages.length,
    newest: newestIn(pieces, facts),
    leftOut: grouped(facts.leftOut),
    changed: grouped(facts.changed),
    limits: facts.limits,
  };
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

function totalsOf(pieces: Pieces, facts: RequestFacts): RequestTotals {
  const system = facts.tokens?.system ?? sum(pieces.sections, ({ tokens }) => tokens);
  const tools = facts.tokens?.tools ?? pieces.tools.tokens;
  const all = sum(pieces.messages, ({ tokens }) => tokens);
  const newest = newestIn(pieces, facts)?.tokens ?? 0;
  return {
    total: system + tools + all,
    system,
    tools,
    history: all - newest,
    newest,
    how: facts.tokens?.how ?? "estimated",
  };
}

/** The message that the question is about: the last one that a person wrote. */
function newestIn({ messages }: Pieces, { request }: RequestFacts): MessagePiece | null {
  return messages[request.messages.findLastIndex(({ role }) => role === "user")] ?? null;
}

function prefixOf(pieces: Pieces, before: { readonly n: number; readonly pieces: Pieces } | null): PrefixReport {
  const head = [...pieces.sections, pieces.tools];
  const digest = sha256(head.map((piece) => piece.sha256).join("\n"));
  if (before === null) return { sha256: digest, with: null, head: false, messages: 0, extends: false, bytes: 0 };
  const earlier = [...before.pieces.sections, before.pieces.tools];
  const same = sharedBy(head, earlier);
  const isSame = same === head.length && same === earlier.length;
  const messages = isSame ? sharedBy(pieces.messages, before.pieces.messages) : 0;
  return {
    sha256: digest,
    with: before.n,
    head: isSame,
    messages,
    extends: isSame && messages === before.pieces.messages.length,
    bytes: sum([...head.slice(0, same), ...pieces.messages.slice(0, messages)], ({ bytes }) => bytes),
  };
}

function sharedBy(pieces: readonly Piece[], others: readonly Piece[]): number {
  const differs = pieces.findIndex((piece, at) => piece.sha256 !== others[at]?.sha256);
  return differs < 0 ? pieces.length : differs;
}

const IDS_MAX = 20;

function grouped(all: readonly LeftOut[]): readonly Why[] {
  const groups = new Map<string, { count: number; ids: string[] }>();
  for (const { id, why } of all) {
    const group = groups.get(why) ?? { count: 0, ids: [] };
    groups.set(why, group);
    group.count += 1;
    if (id !== null && group.ids.length < IDS_MAX) group.ids.push(id);
  }
  return [...groups].map(([why, group]) => ({ why, ...group }));
}
