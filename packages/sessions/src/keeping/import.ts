/**
 * Histories from outside become conversations of this store.
 *
 * The transcript is made whole under its final name first, then the row that points to it: a kill in between leaves a file
 * that the next attempt finds and uses. Ids are kept, so importing again adds only what is new.
 * Invariant: the source is only read; a key that has another conversation is never touched.
 */
import { resolve } from "node:path";
import { isObject, sha256, type World } from "@holdfast/base";
import { type Header, type NewEntry, parseLine } from "../entry.ts";
import { SessionError } from "../errors.ts";
import { isSessionId, parseSessionKey } from "../key.ts";
import { openTranscriptOn } from "../open.ts";
import { openSource } from "../reading/source.ts";
import { readWhole } from "../reading/whole.ts";
import type { SessionStore } from "../store.ts";
import { type Disk, realDisk } from "../stores/file/disk.ts";
import type { SessionRow } from "../types.ts";
import { aboutEntry } from "./about.ts";
import { type Incoming, type IncomingOptions, openIncoming } from "./incoming.ts";
import { NewFile } from "./new-file.ts";
import type { Change } from "./piece.ts";

/** Where to. `store` is the file store of `directory`. */
export interface ImportPlace {
  readonly directory: string;
  readonly store: Pick<SessionStore, "get" | "update">;
  readonly world: World;
  /** Left out: the file system of this machine. */
  readonly disk?: Disk;
}

export interface ImportRequest extends Pick<IncomingOptions, "adjust" | "leaf"> {
  readonly file: string;
  /** Left out: the key that the file itself names. */
  readonly key?: string;
  /** Left out: the id that the file itself has. */
  readonly sessionId?: string;
  /** Fields of the new row. */
  readonly row?: Readonly<Record<string, unknown>>;
  /** Channel and kind of chat, where they are known. */
  readonly origin?: { readonly channel?: string; readonly chatType?: string };
}

export interface Imported {
  readonly kind: "created" | "extended" | "unchanged";
  readonly key: string;
  readonly sessionId: string;
  readonly file: string;
  /** Entries of the source, and how many of them were not here before. */
  readonly entries: number;
  readonly added: number;
  /** How the transcript differs from the source beyond ids of this store. */
  readonly changes: readonly Change[];
}

/** Throws what `openIncoming` throws, `bad_key`, `import_conflict`, `write_failed`. */
export async function importHistory(place: ImportPlace, request: ImportRequest): Promise<Imported> {
  await using incoming = await openIncoming(request.file, place.disk);
  const key = request.key ?? incoming.key;
  if (key === null) throw new SessionError("not_importable", { path: request.file, reason: "it names no session key" });
  const { agentId } = parseSessionKey(key);
  const row = await place.store.get(key);
  const sessionId = row?.sessionId ?? request.sessionId ?? ownId(incoming.header, request.file);
  const file = resolve(place.directory, row?.sessionFile ?? `${sessionId}.jsonl`);
  const about = aboutEntry(key, { agentId, ...request.origin }, incoming.header.timestamp);
  const options: IncomingOptions = {
    header: (header) => ({ ...header, id: sessionId }),
    first: [about],
    ...(request.adjust === undefined ? {} : { adjust: request.adjust }),
    ...(request.leaf === undefined ? {} : { leaf: request.leaf }),
  };
  const made = await makeOnce(incoming, options, file, place);
  const more =
    made ?? (await extend(incoming, options, { file, key, about: about.id, isOwned: row !== undefined }, place));
  await place.store.update(key, (now) => withImported(now, rowOf(sessionId, incoming, request)));
  return { key, sessionId, file, ...more };
}

function ownId(header: Header, file: string): string {
  return isSessionId(header.id) ? header.id : `imported-${sha256(`${header.id} ${resolve(file)}`).slice(0, 16)}`;
}

function rowOf(sessionId: string, incoming: Incoming, request: ImportRequest): SessionRow {
  const startedMs = Date.parse(incoming.header.timestamp);
  const started = Number.isFinite(startedMs) ? { sessionStartedAt: startedMs, updatedAt: startedMs } : {};
  const { lastUserMs, name } = incoming;
  const spoken = lastUserMs === null ? {} : { lastInteractionAt: lastUserMs, updatedAt: lastUserMs };
  const label = name === null ? {} : { label: name };
  return {
    ...started,
    ...spoken,
    ...label,
    ...request.origin,
    ...request.row,
    sessionId,
    sessionFile: `${sessionId}.jsonl`,
  };
}

/**
 * Killed before its row was written, an import finds a row that was made from the transcript alone: that one learns what
 * the source says. Where somebody has spoken since, what is known here counts.
 */
function withImported(now: SessionRow | undefined, fresh: SessionRow): SessionRow {
  if (now === undefined) return fresh;
  const isHalf =
    now.sessionId === fresh.sessionId && fresh.importedFrom !== undefined && now.importedFrom === undefined;
  if (!isHalf) return now;
  const { sessionId, sessionFile } = now;
  return {
    ...(now.lastInteractionAt === undefined ? { ...now, ...fresh } : { ...fresh, ...now }),
    sessionId,
    sessionFile,
  };
}

type Outcome = Pick<Imported, "kind" | "entries" | "added" | "changes">;

/** Makes the transcript unless a file of that name is there; then undefined. */
async function makeOnce(
  incoming: Incoming,
  options: IncomingOptions,
  file: string,
  { world, disk }: ImportPlace,
): Promise<Outcome | undefined> {
  const there = await openSource(file, disk).catch((error: unknown) => {
    if (error instanceof SessionError && error.code === "file_missing") return undefined;
    throw error;
  });
  await there?.[Symbol.asyncDispose]();
  if (there !== undefined) return undefined;
  await using fresh = await NewFile.beside(file, world, disk);
  const changes: Change[] = [];
  let entries = 0;
  for await (const piece of incoming.pieces(options)) {
    if (piece.kind === "change") changes.push(piece.change);
    else {
      await fresh.write(piece.text);
      entries += piece.id === null ? 0 : 1;
    }
  }
  await fresh.finish();
  if (!(await fresh.name(file))) return undefined;
  const own = entries - (options.first?.length ?? 0);
  return { kind: "created", entries: own, added: own, changes };
}

interface Target {
  readonly file: string;
  readonly key: string;
  readonly about: string;
  /** Whether the key's row pointed to it before. */
  readonly isOwned: boolean;
}

/** Entries of one append; bounds memory. */
const TOGETHER_MAX = 256;

/** Appends what the transcript does not have yet. Throws `import_conflict` when it is another conversation. */
async function extend(
  incoming: Incoming,
  options: IncomingOptions,
  target: Target,
  place: ImportPlace,
): Promise<Outcome> {
  const ids = await idsIn(target.file, place.disk);
  const changes: Change[] = [];
  let [entries, shared] = [0, 0];
  for await (const piece of incoming.pieces(options)) {
    if (piece.kind === "change") changes.push(piece.change);
    else if (piece.id !== null && piece.id !== target.about) {
      entries += 1;
      shared += ids.has(piece.id) ? 1 : 0;
    }
  }
  if ((shared === 0 && ids.size > 1) || (!target.isOwned && !ids.has(target.about))) {
    throw new SessionError("import_conflict", { key: target.key, session: target.file });
  }
  await using session = await openTranscriptOn(place.disk ?? realDisk, target.file, {}, place.world);
  let added = 0;
  let waiting: NewEntry[] = [];
  const append = async (): Promise<void> => {
    if (waiting.length > 0) await session.append(waiting);
    added += waiting.length;
    waiting = [];
  };
  for await (const piece of incoming.pieces(options)) {
    if (piece.kind === "change" || piece.id === null || piece.id === target.about || ids.has(piece.id)) continue;
    waiting.push(entryOn(piece.text));
    if (waiting.length >= TOGETHER_MAX) await append();
  }
  await append();
  return { kind: added === 0 ? "unchanged" : "extended", entries, added, changes };
}

async function idsIn(file: string, disk: Disk | undefined): Promise<ReadonlySet<string>> {
  await using source = await openSource(file, disk);
  const { tree } = await readWhole(source);
  return new Set(tree.nodes.map((ref) => ref.id));
}

function entryOn(line: string | Buffer): NewEntry {
  const parsed = parseLine(line);
  if (parsed.kind !== "entry" || !isObject(parsed.entry)) throw new TypeError("a line that was just made is no entry");
  return parsed.entry;
}
