/**
 * Which conversations the files of the older, flat layout hold (docs/format.md): found by their names, read as little as
 * their rows need.
 * Invariant: it only reads; a file is asked again when it changed.
 */
import { basename, join } from "node:path";
import { errnoOf } from "@holdfast/base";
import { liveFile } from "../../archive-name.ts";
import { SessionError } from "../../errors.ts";
import { peekFlat } from "../../formats/flat.ts";
import { flatIdOf, flatOwner } from "../../keeping/flat-name.ts";
import { isSessionKey, parseSessionKey } from "../../key.ts";
import { fileSource } from "../../reading/source.ts";
import type { SessionRow } from "../../types.ts";
import type { Disk } from "../file/disk.ts";
import { during } from "../file/storage-error.ts";
import { openIfThere } from "../file/whole-files.ts";

/** A flat file as a conversation. */
export interface FlatSession {
  readonly key: string;
  readonly path: string;
  /** Says which state of the file this was. */
  readonly stamp: string;
  /** The row that it would have. */
  readonly row: SessionRow;
}

/** The flat files of some directories, as conversations of one agent. */
export class FlatFolders {
  readonly #disk: Disk;
  readonly #agentId: string;
  /** Real paths; where two hold the same name, the first counts. */
  readonly #directories: readonly string[];
  /** What each path held when it was looked at; null: not a flat file. */
  readonly #known = new Map<string, { readonly stamp: string; readonly found: FlatSession | null }>();

  private constructor(disk: Disk, agentId: string, directories: readonly string[]) {
    this.#disk = disk;
    this.#agentId = agentId;
    this.#directories = directories;
  }

  /** Throws `file_missing` for a directory that is not there: its conversations would seem to be gone. */
  static async open(disk: Disk, agentId: string, directories: readonly string[]): Promise<FlatFolders> {
    const real: string[] = [];
    for (const path of directories) {
      real.push(
        await disk.realpath(path).catch((error: unknown) => {
          throw new SessionError("file_missing", { path }, error);
        }),
      );
    }
    return new FlatFolders(disk, agentId, [...new Set(real)]);
  }

  /** The conversation of a key, or undefined. */
  async byKey(key: string): Promise<FlatSession | undefined> {
    if (!isSessionKey(key)) return undefined;
    const { agentId, place } = parseSessionKey(key);
    if (agentId !== this.#agentId || place.kind !== "chat" || place.chatType !== "direct") return undefined;
    for (const directory of this.#directories) {
      const name = `${place.channel}_${place.chat}.jsonl`;
      const found = basename(name) === name ? await this.#look(join(directory, name)) : undefined;
      if (found?.key === key) return found;
    }
    return undefined;
  }

  /** The conversation that a session id stands for, or undefined. */
  async byId(id: string): Promise<FlatSession | undefined> {
    for (const { found } of this.#known.values()) {
      if (found?.row.sessionId === id) return this.#look(found.path);
    }
    return (await this.all()).find(({ row }) => row.sessionId === id);
  }

  async all(): Promise<readonly FlatSession[]> {
    const byKey = new Map<string, FlatSession>();
    for (const directory of this.#directories) {
      for (const name of (await during(directory, "read", () => this.#disk.list(directory))).toSorted()) {
        const found = flatOwner(name) === null ? undefined : await this.#look(join(directory, name));
        if (found !== undefined && !byKey.has(found.key)) byKey.set(found.key, found);
      }
    }
    return [...byKey.values()];
  }

  async #look(path: string): Promise<FlatSession | undefined> {
    return during(path, "read", async () => {
      const stamp = await this.#stampOf(path);
      if (stamp === undefined) return undefined;
      const known = this.#known.get(path);
      if (known?.stamp === stamp) return known.found ?? undefined;
      const found = await this.#read(path, stamp);
      this.#known.set(path, { stamp, found: found ?? null });
      return found;
    });
  }

  /** Undefined where there is no such file. */
  async #stampOf(path: string): Promise<string | undefined> {
    try {
      const now = await this.#disk.stat(path);
      return now.isFile() ? `${now.dev}:${now.ino}:${now.size}:${now.mtimeNs}` : undefined;
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  async #read(path: string, stamp: string): Promise<FlatSession | undefined> {
    const owner = flatOwner(path);
    const file = owner === null ? undefined : await openIfThere(this.#disk, path, "read");
    if (owner === null || file === undefined) return undefined;
    await using opened = file;
    const key = ["agent", this.#agentId, owner.channel, "direct", owner.userId].join(":");
    const peeked = isSessionKey(key) ? await peekFlat(await fileSource(opened)) : undefined;
    if (peeked === undefined) return undefined;
    const { began, lastUserMs } = peeked;
    const startedMs = Date.parse(began);
    const sessionId = flatIdOf(path, began);
    const spoken = lastUserMs === null ? {} : { lastInteractionAt: lastUserMs };
    const times = { sessionStartedAt: startedMs, ...spoken, updatedAt: lastUserMs ?? startedMs };
    const place = { channel: owner.channel, chatType: "direct" };
    return { key, path, stamp, row: { sessionId, sessionFile: liveFile(sessionId), ...times, ...place } };
  }
}
