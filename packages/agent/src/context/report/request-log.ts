/**
 * Reports beside their transcript: `<session id>.requests`, lines that are only added, within a size.
 *
 * Nothing here is synced and nothing waits for it but the end of its own question: what a kill leaves half written is passed
 * over by whoever reads, and the next report begins on a new line.
 * Invariants: a piece is kept once; a report that cannot be kept is told and stops nothing; the file never grows past its
 * size but for one request, because the older half goes first.
 */
import { appendFile, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { errnoOf, LIMITS, messageOf, sha256, type World } from "@holdfast/base";
import { approximateTokens, type Entry, type EntryMessage, isMessage, requestsPath } from "@holdfast/sessions";
import { inEnvelope } from "../envelope.ts";
import {
  digestsIn,
  headText,
  type KeptRequest,
  type KeptRequests,
  parseRequests,
  pieceLine,
  reportLine,
} from "./format.ts";
import { type MessagePiece, type Piece, type Pieces, pieceOf, reportOf } from "./report.ts";
import type { RequestFacts, RequestLog, RequestPlace } from "./types.ts";

/** Conversations whose files are known; the one used last comes last. */
const KNOWN_MAX = 256;
/** So many requests build on one another before one names all its messages again. */
const CHAIN_MAX = 32;

/** What is known of one file. */
interface Known {
  /** In bytes. */
  size: number;
  readonly digests: Set<string>;
  last: { readonly n: number; readonly pieces: Pieces } | null;
  chain: number;
  /** Whether the file ends in the middle of a line. */
  torn: boolean;
  /** Of messages that are sent as they stand in the transcript, by entry. */
  readonly ofEntries: Map<string, MessagePiece>;
}

export interface RequestLogOptions {
  readonly world: World;
  /** Told when a report could not be kept. Must not throw. */
  onProblem(why: string): void;
  /** Of one file; as the transcript's size allows when left out. */
  readonly bytesMax?: number;
}

export function createRequestLog(options: RequestLogOptions): RequestLog {
  const known = new Map<string, Known>();
  const busy = new Map<string, Promise<void>>();
  return {
    async record(place, facts) {
      const { file } = place;
      if (file === null) return;
      const before = busy.get(file) ?? Promise.resolve();
      const done = before.then(async () => {
        try {
          await keep({ ...options, known }, file, { place, facts });
        } catch (error) {
          known.delete(file);
          options.onProblem(messageOf(error));
        }
      });
      busy.set(file, done);
      await done;
      if (busy.get(file) === done) busy.delete(file);
    },
  };
}

interface Keeping extends RequestLogOptions {
  readonly known: Map<string, Known>;
}

async function keep(
  options: Keeping,
  transcript: string,
  { place, facts }: { readonly place: RequestPlace; readonly facts: RequestFacts },
): Promise<void> {
  const path = requestsPath(transcript);
  const state = options.known.get(transcript) ?? (await look(path));
  remember(options.known, transcript, state);
  const { lines, pieces } = described(state, place, facts);
  const { sessionId, sessionKey, answerId, model } = place;
  const n = (state.last?.n ?? 0) + 1;
  const at = new Date(options.world.nowMs()).toISOString();
  const report = reportOf({ n, at, sessionId, sessionKey, answerId, model }, facts, { pieces, before: state.last });
  const base =
    state.last === null || state.chain >= CHAIN_MAX ? null : { n: state.last.n, messages: state.last.pieces.messages };
  const head = headText(report);
  const digest = sha256(head);
  const fresh = state.digests.has(digest) ? lines : new Map([...lines, [digest, pieceLine(digest, head)]]);
  const text = [state.torn ? "\n" : "", ...fresh.values(), reportLine(report, pieces, base)].join("");
  await appendFile(path, text, { mode: 0o600 });
  state.size += Buffer.byteLength(text);
  state.torn = false;
  for (const one of fresh.keys()) state.digests.add(one);
  state.chain = base === null ? 0 : state.chain + 1;
  state.last = { n, pieces };
  const least = options.bytesMax ?? LIMITS.requestLogBytesMin;
  if (state.size <= least) return;
  const bytesMax = options.bytesMax ?? (await budgetOf(transcript));
  if (state.size <= bytesMax) return;
  await shrink(path, bytesMax / 2);
  options.known.delete(transcript);
}

/** As much as the transcript has, within bounds: what is told about conversations never needs more room than they do. */
async function budgetOf(transcript: string): Promise<number> {
  const { size } = await stat(transcript);
  return Math.min(LIMITS.requestLogBytesMax, Math.max(LIMITS.requestLogBytesMin, size));
}

function remember(known: Map<string, Known>, transcript: string, state: Known): void {
  known.delete(transcript);
  known.set(transcript, state);
  const [oldest] = known.keys();
  if (known.size > KNOWN_MAX && oldest !== undefined) known.delete(oldest);
}

async function textAt(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  }
}

async function look(path: string): Promise<Known> {
  const text = await textAt(path);
  const last = parseRequests(text).requests.at(-1);
  return {
    size: Buffer.byteLength(text),
    digests: new Set(digestsIn(text)),
    last: last === undefined ? null : { n: last.report.n, pieces: last.pieces },
    chain: CHAIN_MAX,
    torn: text !== "" && !text.endsWith("\n"),
    ofEntries: new Map(),
  };
}

interface Described {
  readonly pieces: Pieces;
  /** What is not kept yet, as lines, by digest. */
  readonly lines: ReadonlyMap<string, string>;
}

/** The request in pieces. What stands in the transcript as it is sent, and what is too large, is not kept here. */
function described(state: Known, { path }: RequestPlace, facts: RequestFacts): Described {
  const { request, sections, sources, tokens } = facts;
  const lines = new Map<string, string>();
  const kept = (text: string, piece: Piece): Piece => {
    if (!state.digests.has(piece.sha256) && piece.bytes <= LIMITS.requestPieceBytesMax)
      lines.set(piece.sha256, pieceLine(piece.sha256, text));
    return piece;
  };
  // Of what sections are said to be only what was sent counts.
  const joined = sections.map(({ text }) => text).join("\n\n");
  const whole = joined === request.system ? sections : [{ name: "system", text: request.system }];
  const toolsText = JSON.stringify(request.tools);
  const entries = new Map(path.map((entry) => [entry.id, entry]));
  const messages = request.messages.map((message, at): MessagePiece => {
    const entryId = sources[at] ?? null;
    const entry = entryId === null ? undefined : entries.get(entryId);
    const count = tokens?.messages[at];
    if (entry !== undefined && storedMessage(entry) === message) return ofEntry(state, entry.id, { message, count });
    return { ...kept(...textPiece(message, count)), entryId };
  });
  return {
    lines,
    pieces: {
      sections: whole.map(({ name, text }) => ({ name, ...kept(text, pieceOf(text)) })),
      tools: kept(toolsText, pieceOf(toolsText, tokens?.tools)),
      messages,
    },
  };
}

function textPiece(message: EntryMessage, tokens = approximateTokens(message)): [text: string, piece: Piece] {
  const text = JSON.stringify(message);
  return [text, pieceOf(text, tokens)];
}

/** The message of an entry as it stands in the transcript, with its envelope. */
export function storedMessage(entry: Entry): EntryMessage | undefined {
  return isMessage(entry) ? inEnvelope(entry.message) : undefined;
}

/** An entry never changes, so what was found out about it stays true. */
function ofEntry(
  state: Known,
  entryId: string,
  { message, count }: { readonly message: EntryMessage; readonly count: number | undefined },
): MessagePiece {
  const before = state.ofEntries.get(entryId);
  if (before !== undefined && (count === undefined || count === before.tokens)) return before;
  const piece = { ...textPiece(message, count)[1], entryId };
  state.ofEntries.set(entryId, piece);
  return piece;
}

/** Keeps the newest requests with their pieces, as far as they fit, at least one. */
async function shrink(path: string, bytesMax: number): Promise<void> {
  const kept = parseRequests(await textAt(path));
  const aside = `${path}.new`;
  try {
    await writeFile(aside, shrunk(kept, bytesMax), { mode: 0o600 });
    await rename(aside, path);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}

export function shrunk({ requests, texts }: KeptRequests, bytesMax: number): string {
  const chosen: KeptRequest[] = [];
  const needed = new Set<string>();
  let bytes = 0;
  for (const request of requests.toReversed()) {
    const { sections, tools, messages } = request.pieces;
    const head = sha256(headText(request.report));
    const fresh = new Set(
      [head, ...[...sections, tools, ...messages].map((piece) => piece.sha256)].filter(
        (one) => texts.has(one) && !needed.has(one),
      ),
    );
    const cost = [...fresh].reduce((sum, one) => sum + (texts.get(one)?.length ?? 0), 1_000 + 16 * messages.length);
    if (chosen.length > 0 && bytes + cost > bytesMax) break;
    bytes += cost;
    for (const one of fresh) needed.add(one);
    chosen.unshift(request);
  }
  const pieces = [...needed].map((one) => pieceLine(one, texts.get(one) ?? ""));
  const reports = chosen.map(({ report, pieces: now }, at) => {
    const before = at % CHAIN_MAX === 0 ? undefined : chosen[at - 1];
    const base = before === undefined ? null : { n: before.report.n, messages: before.pieces.messages };
    return reportLine(report, now, base);
  });
  return [...pieces, ...reports].join("");
}

/** The requests that are kept of a transcript; none where nothing is. */
export async function readRequests(transcript: string): Promise<KeptRequests> {
  return parseRequests(await textAt(requestsPath(transcript)));
}
