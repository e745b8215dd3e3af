/**
 * Reports as lines of a file, and back. Pure.
 *
 * One kind of line holds a piece under the digest of its text, the other a report with the digests of its pieces: what stays the
 * same from request to request is a piece too, and messages that an earlier request had are named by its number. What stands
 * in the transcript is not kept again.
 * Invariant: a line that is not whole, or not ours, is passed over; a request is rebuilt from pieces whose digest fits, or it
 * is said which are not there any more.
 */
import { isObject, sha256, tryParse } from "@holdfast/base";
import type { MessagePiece, Piece, Pieces, RequestReport } from "./report.ts";

/** `[digest, bytes, tokens, entry]` */
type Row = readonly [string, number, number, string | null];

/** The messages: the first `keep` of request `of`, then `add`. */
interface Recipe {
  readonly of: number | null;
  readonly keep: number;
  readonly add: readonly Row[];
}

const PIECE = '{"piece":"';
const DIGEST_CHARS = 64;

export function pieceLine(digest: string, text: string): string {
  return `${PIECE}${digest}","text":${JSON.stringify(text)}}\n`;
}

/** What stays the same from request to request, as the text of a piece. */
export function headText({ sections, files, tools, limits, sessionId, sessionKey }: RequestReport): string {
  return JSON.stringify({ sections, files, tools, limits, sessionId, sessionKey });
}

/** `head`: digest of `headText`, whose piece has to stand before it. */
export function reportLine(
  report: RequestReport,
  { messages }: Pieces,
  base: { readonly n: number; readonly messages: readonly MessagePiece[] } | null,
): string {
  const keep = base === null ? 0 : shared(messages, base.messages);
  const add = messages.slice(keep).map((one): Row => [one.sha256, one.bytes, one.tokens, one.entryId]);
  const recipe: Recipe = { of: keep === 0 ? null : (base?.n ?? null), keep, add };
  const { sections: _s, files: _f, tools: _t, limits: _l, sessionId: _i, sessionKey: _k, ...own } = report;
  return `${JSON.stringify({ report: own, head: sha256(headText(report)), messages: recipe })}\n`;
}

function shared(messages: readonly MessagePiece[], others: readonly MessagePiece[]): number {
  const differs = messages.findIndex(
    (one, at) => one.sha256 !== others[at]?.sha256 || one.entryId !== others[at]?.entryId,
  );
  return differs < 0 ? messages.length : differs;
}

export interface KeptRequest {
  readonly report: RequestReport;
  readonly pieces: Pieces;
}

export interface KeptRequests {
  /** Oldest first. */
  readonly requests: readonly KeptRequest[];
  /** Text by digest. */
  readonly texts: ReadonlyMap<string, string>;
}

export function parseRequests(text: string): KeptRequests {
  const texts = new Map<string, string>();
  const requests = new Map<number, KeptRequest>();
  for (const line of text.split("\n")) {
    const parsed = tryParse(line);
    if (!isObject(parsed)) continue;
    if (typeof parsed.piece === "string" && typeof parsed.text === "string") texts.set(parsed.piece, parsed.text);
    const kept = keptIn(parsed, requests, texts);
    if (kept !== null) requests.set(kept.report.n, kept);
  }
  return { requests: [...requests.values()], texts };
}

function keptIn(
  line: Readonly<Record<string, unknown>>,
  earlier: ReadonlyMap<number, KeptRequest>,
  texts: ReadonlyMap<string, string>,
): KeptRequest | null {
  if (!isObject(line.report) || typeof line.report.n !== "number" || !isObject(line.messages)) return null;
  const head = tryParse(texts.get(String(line.head)) ?? "");
  if (!isObject(head)) return null;
  // Written by `reportLine` only, so reading it back is no guess.
  const report = { ...line.report, ...head } as unknown as RequestReport;
  const { of, keep, add } = line.messages as unknown as Recipe;
  const base = of === null ? [] : earlier.get(of)?.pieces.messages.slice(0, keep);
  if (base === undefined || base.length < keep) return null;
  const added = add.map(
    ([digest, bytes, tokens, entryId]): MessagePiece => ({ sha256: digest, bytes, tokens, entryId }),
  );
  const pieces = { sections: report.sections, tools: report.tools, messages: [...base, ...added] };
  return { report, pieces };
}

/** Digests of the pieces that a file holds, without parsing their texts. */
export function digestsIn(text: string): ReadonlySet<string> {
  const digests = new Set<string>();
  for (const line of text.split("\n"))
    if (line.startsWith(PIECE) && line.endsWith("}"))
      digests.add(line.slice(PIECE.length, PIECE.length + DIGEST_CHARS));
  return digests;
}

/** The request as it was given to the code that sends it. */
export interface Rebuilt {
  readonly system: string;
  readonly messages: readonly unknown[];
  readonly tools: unknown;
}

/** `missing`: what is not kept any more, by name or entry; then there is no request. */
export type Rebuilding =
  | { readonly kind: "rebuilt"; readonly request: Rebuilt }
  | { readonly kind: "incomplete"; readonly missing: readonly string[] };

/** `stored`: the text of an entry's message as it stands in the transcript. */
export function rebuild(
  { pieces }: KeptRequest,
  texts: ReadonlyMap<string, string>,
  stored: (entryId: string) => string | undefined,
): Rebuilding {
  const missing: string[] = [];
  const textOf = ({ sha256: digest }: Piece, name: string, other?: string): string => {
    const text = texts.get(digest) ?? other;
    if (text !== undefined && sha256(text) === digest) return text;
    missing.push(name);
    return "null";
  };
  const system = pieces.sections.map((section) => textOf(section, section.name)).join("\n\n");
  const tools: unknown = JSON.parse(textOf(pieces.tools, "tools"));
  const messages = pieces.messages.map((piece, at): unknown => {
    const { entryId } = piece;
    const text = textOf(piece, entryId ?? `message ${at}`, entryId === null ? undefined : stored(entryId));
    return JSON.parse(text);
  });
  return missing.length > 0
    ? { kind: "incomplete", missing }
    : { kind: "rebuilt", request: { system, messages, tools } };
}
