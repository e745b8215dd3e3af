/**
 * A store over another one that also has the conversations of flat files, until each is written to.
 *
 * A flat file is read as the transcript it would become. The first commit writes that transcript under its own name, then
 * the row, and the other store has it from then on; the flat file stays as it is and is not looked at again.
 * Invariant: killed anywhere, a key has one conversation: row, transcript and content follow from the flat file alone, and
 * a transcript of that id, live or in the archive, counts before the file.
 */
import { dirname, join } from "node:path";
import { errnoOf } from "@holdfast/base";
import { liveFile, parseArchived } from "../../archive-name.ts";
import { memorySource } from "../../reading/source.ts";
import type { CommitRequest, Committed, LogRef, Position, Reading, SessionStore } from "../../store.ts";
import type { ListedSession, ListQuery, SessionRow } from "../../types.ts";
import { writtenAt } from "../../newest.ts";
import type { Place } from "../file/disk.ts";
import { archivedNames } from "../file/list-logs.ts";
import { during, storageError } from "../file/storage-error.ts";
import { writeNewFile } from "../file/whole-files.ts";
import { contentOf, flatPosition, isFlatPosition, sinceFlat } from "./content.ts";
import { FlatFolders, type FlatSession } from "./folders.ts";

type Change = (row: SessionRow | undefined) => SessionRow | undefined | null;

export interface FlatOptions {
  /** Where the other store keeps its files; a real path. */
  readonly directory: string;
  readonly agentId: string;
  readonly flatDirectories: readonly string[];
}

/** Throws `file_missing` for a directory that is not there. */
export async function withFlatFiles(store: SessionStore, options: FlatOptions, place: Place): Promise<SessionStore> {
  const { directory, agentId, flatDirectories } = options;
  const folders = await FlatFolders.open(place.disk, agentId, flatDirectories);
  const flat = new FlatLogs(store, { ...place, directory, agentId, folders });
  return {
    supports: store.supports,
    get: (key) => flat.get(key),
    list: (query) => flat.list(query),
    update: (key, change) => flat.update(key, change),
    read: (log, since) => flat.read(log, since),
    commit: (request) => flat.commit(request),
    create: (...given) => store.create(...given),
    claimTurn: (...given) => store.claimTurn(...given),
    renewTurn: (...given) => store.renewTurn(...given),
    releaseTurn: (...given) => store.releaseTurn(...given),
    logs: (...given) => store.logs(...given),
    // Nothing is put away that was not written; whoever asks has to look at the transcript again.
    archive: async (log, as, expect) => (isFlatPosition(expect) ? "behind" : store.archive(log, as, expect)),
    restore: (...given) => store.restore(...given),
    pack: (...given) => store.pack(...given),
    discard: (...given) => store.discard(...given),
    scrub: () => store.scrub(),
    pathOf: (log) => store.pathOf(log),
    close: () => store.close(),
  };
}

interface Parts extends Place {
  readonly directory: string;
  readonly agentId: string;
  readonly folders: FlatFolders;
}

class FlatLogs {
  readonly #store: SessionStore;
  readonly #parts: Parts;
  /** The content that was read last: an open conversation asks for it again and again. */
  #last: { readonly path: string; readonly stamp: string; readonly bytes: Buffer } | undefined;

  constructor(store: SessionStore, parts: Parts) {
    this.#store = store;
    this.#parts = parts;
  }

  async get(key: string): Promise<SessionRow | undefined> {
    return (await this.#store.get(key)) ?? (await this.#flatOf(key))?.row;
  }

  /** Those that were taken over are rows of the store; the others come among them by their time. */
  async list(query: ListQuery = {}): Promise<readonly ListedSession[]> {
    const { prefix = "", limit = Number.POSITIVE_INFINITY } = query;
    const rows = await this.#store.list(query);
    const flat = await this.#untouched((await this.#parts.folders.all()).filter(({ key }) => key.startsWith(prefix)));
    if (flat.length === 0) return rows;
    return [...rows, ...flat].sort((a, b) => writtenAt(b.row) - writtenAt(a.row)).slice(0, limit);
  }

  /** A row is written for a transcript that is there: whoever does not know of the flat file finds what was said in it. */
  async update(key: string, change: Change): Promise<SessionRow | undefined> {
    const flat = (await this.#store.get(key)) === undefined ? await this.#flatOf(key) : undefined;
    if (flat === undefined) return this.#store.update(key, change);
    const next = change(flat.row);
    if (next === flat.row) return next;
    if (next === undefined || next === null) return undefined;
    await this.#write(flat);
    return this.#store.update(key, (row) => change(row ?? flat.row));
  }

  async read(log: LogRef, since?: Position): Promise<Reading | undefined> {
    const before = isFlatPosition(since) ? since : undefined;
    const there = await this.#store.read(log, before === undefined ? since : undefined);
    if (there !== undefined && before === undefined) return there;
    if (there !== undefined && before !== undefined) {
      return { ...there, since: await sinceFlat(before, there.source) };
    }
    const bytes = await this.#contentOf(log);
    if (bytes === undefined) return undefined;
    const source = memorySource(bytes);
    const found = before === undefined ? "none" : await sinceFlat(before, source);
    const changed = found === "moved" ? "none" : found;
    return { position: flatPosition(bytes), source, since: changed, async [Symbol.asyncDispose]() {} };
  }

  async commit(request: CommitRequest): Promise<Committed> {
    const { log, expect } = request;
    if (!isFlatPosition(expect)) return this.#store.commit(request);
    const reading = (await this.#store.read(log)) ?? (await this.#takeOver(log));
    if (reading === undefined) return { kind: "behind", reading: undefined };
    const since = await sinceFlat(expect, reading.source);
    if (since !== "moved") return { kind: "behind", reading: { ...reading, since } };
    await reading[Symbol.asyncDispose]();
    return this.#store.commit({ ...request, expect: reading.position });
  }

  /** The conversation of a key that has no row. */
  async #flatOf(key: string): Promise<FlatSession | undefined> {
    const flat = await this.#parts.folders.byKey(key);
    return flat === undefined ? undefined : (await this.#untouched([flat]))[0];
  }

  /** Those without a row; one that was taken over and ended does not come back by itself. */
  async #untouched(sessions: readonly FlatSession[]): Promise<readonly FlatSession[]> {
    const left: FlatSession[] = [];
    for (const flat of sessions) if ((await this.#store.get(flat.key)) === undefined) left.push(flat);
    if (left.length === 0) return left;
    const ended = new Set(await archivedIds(this.#parts));
    return left.filter(({ row }) => !ended.has(row.sessionId));
  }

  async #contentOf(log: LogRef): Promise<Buffer | undefined> {
    if (!log.id.startsWith("flat-") || log.file !== liveFile(log.id)) return undefined;
    const flat = await this.#parts.folders.byId(log.id);
    if (flat === undefined || (await archivedIds(this.#parts)).includes(log.id)) return undefined;
    const { path, stamp } = flat;
    if (this.#last?.path !== path || this.#last.stamp !== stamp) {
      this.#last = { path, stamp, bytes: await contentOf(this.#parts.disk, flat, this.#parts.agentId) };
    }
    return this.#last.bytes;
  }

  /** File, then row, each durable; what a kill cut short is done again by the next commit. */
  async #takeOver(log: LogRef): Promise<Reading | undefined> {
    const flat = await this.#parts.folders.byId(log.id);
    if (flat === undefined || !(await this.#write(flat))) return undefined;
    await this.#store.update(flat.key, (row) => row ?? flat.row);
    return this.#store.read(log);
  }

  /** Makes the transcript, unless it is there. False: there is nothing to make it of any more. */
  async #write({ row }: FlatSession): Promise<boolean> {
    const log: LogRef = { id: row.sessionId, file: row.sessionFile };
    const bytes = await this.#contentOf(log);
    if (bytes !== undefined) await writeOnce(join(this.#parts.directory, log.file), bytes, this.#parts);
    return bytes !== undefined;
  }
}

async function archivedIds({ disk, directory }: Parts): Promise<readonly string[]> {
  const names = await during(directory, "read", () => archivedNames(disk, directory));
  return names.flatMap((name) => parseArchived(`archive/${name.replace(/\.gz$/, "")}`)?.id ?? []);
}

/** The file appears whole and durable, or not at all; one that is there stays. */
async function writeOnce(path: string, bytes: Buffer, { disk, world }: Place): Promise<void> {
  const aside = `${path}.${world.newId("holder")}.new`;
  try {
    world.at("transcript:before-write");
    await during(aside, "write", () => writeNewFile(disk, aside, bytes));
    await disk.link(aside, path);
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw storageError(error, path, "link");
  } finally {
    await during(aside, "write", () => disk.remove(aside));
  }
  await during(path, "sync", () => disk.syncDirectory(dirname(path)));
  world.at("transcript:after-sync");
}
