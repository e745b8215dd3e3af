/**
 * Transcripts as files under their write locks; where a file lies is decided by whoever made this object.
 * Invariant: every write and every change of a number happens with the write lock of that file held.
 */
import type { Header } from "../../entry.ts";
import { claim, release, renew } from "../../rights.ts";
import { keepSidecar, loadSidecar, SIDECAR_FROM_BYTES } from "../../sidecar/sidecar-file.ts";
import type { CommitRequest, Committed, FirstEntries, LogRef, LogStore, Position, Reading } from "../../store.ts";
import type { Claim, Right } from "../../types.ts";
import { archiveLog, discardLog, type Names, packLog, restoreLog } from "./archive.ts";
import type { Place } from "./disk.ts";
import { fenceLog } from "./fence.ts";
import { commitLog, createLog, readLog } from "./log.ts";
import { keptRights } from "./numbers.ts";
import { markOf } from "./position.ts";
import { type LockOptions, type WriteLock, WriteLocks } from "./write-lock.ts";

export interface FileLogsOptions extends Place {
  readonly lock: LockOptions;
  /** Whether new files are synced; what a commit syncs is said with it. */
  readonly sync: boolean;
  /** The real path of a log, or an error when it lies where it must not. */
  readonly resolve: (log: LogRef) => Promise<string>;
}

/** A log that is long enough has an index beside it, looked at in the state of the log that was read. */
function withSidecar(reading: Reading, path: string, place: Place & { readonly onKept: () => void }): Reading {
  const mark = markOf(reading.position);
  if (mark.size < SIDECAR_FROM_BYTES || mark.size !== reading.source.size) return reading;
  const load = () => loadSidecar(place, path, mark);
  const keep = async (slots: Uint32Array) => {
    await keepSidecar(place, path, mark, slots);
    place.onKept();
  };
  return { ...reading, sidecar: { load, keep } };
}

export class FileLogs implements LogStore {
  readonly #options: FileLogsOptions;
  readonly #locks: WriteLocks;

  constructor(options: FileLogsOptions) {
    this.#options = options;
    this.#locks = new WriteLocks(options, options.lock);
  }

  async create(log: LogRef, header: Header, entries: FirstEntries): Promise<"created" | "exists"> {
    const path = await this.#options.resolve(log);
    const first = { header, entries, sync: this.#options.sync };
    return this.#hold(path, (lock) => createLog(path, lock, first, this.#tools()));
  }

  async claimTurn(log: LogRef, holder: string, leaseMs: number): Promise<Claim> {
    const path = await this.#options.resolve(log);
    return this.#hold(path, async (lock) => {
      const nowMs = this.#options.world.nowMs();
      const outcome = claim(await keptRights(this.#options.disk, path, lock), {
        session: log.id,
        holder,
        leaseMs,
        nowMs,
      });
      if (outcome.claim.kind === "claimed") await lock.keep(outcome.rights);
      return outcome.claim;
    });
  }

  async renewTurn(log: LogRef, right: Right, leaseMs: number): Promise<boolean> {
    const path = await this.#options.resolve(log);
    return this.#hold(path, async (lock) => {
      const untilMs = this.#options.world.nowMs() + leaseMs;
      const rights = renew(await keptRights(this.#options.disk, path, lock), right, untilMs);
      if (rights !== undefined) await lock.keep(rights);
      return rights !== undefined;
    });
  }

  async releaseTurn(log: LogRef, right: Right): Promise<void> {
    const path = await this.#options.resolve(log);
    await this.#hold(path, async (lock) => lock.keep(release(await keptRights(this.#options.disk, path, lock), right)));
  }

  async commit(request: CommitRequest): Promise<Committed> {
    const path = await this.#options.resolve(request.log);
    return this.#hold(path, (lock) => commitLog(path, lock, request, this.#tools()));
  }

  async read(log: LogRef, since?: Position): Promise<Reading | undefined> {
    const path = await this.#options.resolve(log);
    const reading = await readLog(this.#options.disk, path, since);
    const onKept = () => this.#locks.indexMade(path);
    return reading && withSidecar(reading, path, { ...this.#options, onKept });
  }

  archive(log: LogRef, as: LogRef, expect: Position): Promise<"archived" | "behind" | "missing"> {
    return this.#moving(log, as, (names) => archiveLog(names, expect, this.#options));
  }

  restore(archived: LogRef, log: LogRef): Promise<"restored" | "exists" | "missing"> {
    return this.#moving(log, archived, (names) => restoreLog(names, this.#options));
  }

  pack(archived: LogRef, log: LogRef): Promise<boolean> {
    return this.#moving(log, archived, (names) => packLog(names, this.#options));
  }

  discard(archived: LogRef, log: LogRef): Promise<boolean> {
    return this.#moving(log, archived, (names) => discardLog(names, this.#options));
  }

  /** With the write lock, and with a fence first where it was taken over from somebody who may still write. */
  #hold<T>(path: string, work: (lock: WriteLock) => Promise<T>): Promise<T> {
    return this.#locks.hold(path, async (lock) => {
      if (lock.mustFence) await fenceLog(path, lock, this.#tools());
      return work(lock);
    });
  }

  /** With the write lock of the live name, which is everybody's. */
  async #moving<T>(log: LogRef, archived: LogRef, work: (names: Names) => Promise<T>): Promise<T> {
    const { resolve } = this.#options;
    const names = { live: await resolve(log), archived: await resolve(archived) };
    return this.#hold(names.live, async (lock) => {
      await lock.check();
      return work(names);
    });
  }

  pathOf(log: LogRef): string {
    return log.file;
  }

  /** Closes what is kept open between commits. Whatever is asked for afterwards opens it again. */
  close(): Promise<void> {
    return this.#locks.close();
  }

  #tools() {
    const { disk, world } = this.#options;
    return { disk, world, token: this.#locks.token };
  }
}
