/**
 * A lock that is a file: `<file>.held`, made exclusively, for shared directories and where the kernel has no lock to give.
 *
 * Such a lock does not die with its holder. Whoever finds one that is not renewed any more moves it aside into
 * `<file>.held.reclaim/`, under a name of its own, and looks at what it moved: another one than was judged is put back with
 * link(2), which replaces nothing. A name alone cannot be unlinked safely, so a release goes the same way.
 * Invariant: what was moved aside from a holder that may still write stays there as evidence until a later holder has
 * fenced. `packages/sim/src/protocol` explores this in all interleavings.
 */
import { dirname, join } from "node:path";
import { errnoOf, type Identity, identityOf, type Liveness, livenessOf, parseIdentity, tryParse } from "@holdfast/base";
import { SessionError } from "../../errors.ts";
import type { SessionsProblem } from "../../types.ts";
import type { Disk, DiskFile, Place } from "./disk.ts";
import { storageError } from "./storage-error.ts";
import { writeAll } from "./whole-files.ts";

export interface CreateOptions {
  readonly timeoutMs: number;
  /** A lock that was not renewed for so long, by our own clock, may be moved aside. */
  readonly staleMs: number;
  /** `dead`: only from a holder that is proven dead, however long it has not been renewed. */
  readonly takeover?: "dead";
  readonly onProblem: (problem: SessionsProblem) => void;
}

/** The lock in our hands, as far as a file can be. */
export interface CreatedLock {
  /** What was moved aside before we took it: a fence comes first, then `clear`. */
  readonly evidence: readonly string[];
  clear(): Promise<void>;
  /**
   * Whether it is still ours, and was taken less than half of `staleMs` ago by both clocks: so nobody has judged us yet who
   * sees this directory later than we do. Asked before a write and after its sync.
   */
  isOurs(): Promise<boolean>;
  /** Never throws: what cannot be given back is reported, and free when it has not been renewed for `staleMs`. */
  release(): Promise<void>;
}

/** A lock as it was found. `token` is "" while its maker has not written its name. */
interface Found {
  readonly token: string;
  readonly identity: Identity | undefined;
  readonly ino: bigint;
  /** Changes with each renewal. */
  readonly mark: string;
}

const POLL_MAX_MS = 20;
/** Between making a lock and writing one's name into it lies one system call. */
const NAMELESS_MS = 5_000;
const NAME_BYTES = 4096;

export class CreateLocks {
  readonly #place: Place;
  readonly #options: CreateOptions;
  /** Locks of others as seen last, and since when they are so, by our clock: across several attempts to take them. */
  readonly #watched = new Map<string, { readonly mark: string; readonly sinceMs: number }>();

  constructor(place: Place, options: CreateOptions) {
    this.#place = place;
    this.#options = options;
  }

  /** Waits for the lock of `path`, jittered. Throws `lock_timeout`, `write_failed`. */
  async take(path: string): Promise<CreatedLock> {
    const { world } = this.#place;
    const startedMs = world.monotonicMs();
    for (let waitMs = 1; ; waitMs = Math.min(waitMs * 2, POLL_MAX_MS)) {
      const lock = await this.tryTake(path);
      if (!("heldBy" in lock)) return lock;
      const { timeoutMs } = this.#options;
      if (world.monotonicMs() - startedMs >= timeoutMs) {
        throw new SessionError("lock_timeout", { path: heldPath(path), timeoutMs, holder: lock.heldBy });
      }
      await world.sleep(waitMs * (0.5 + world.random()));
    }
  }

  /** Takes the lock if it is free, or if its holder is gone. */
  async tryTake(path: string): Promise<CreatedLock | { readonly heldBy: string }> {
    try {
      const found = await look(this.#place.disk, heldPath(path));
      if (found !== undefined) {
        const why = this.#gone(path, found);
        if (why === undefined) return { heldBy: JSON.stringify(found.identity ?? "unknown") };
        await this.#moveAside(path, found, why);
      }
      return (await this.#make(path)) ?? { heldBy: "unknown" };
    } catch (error) {
      throw storageError(error, heldPath(path), "lock");
    }
  }

  /** Why its holder counts as gone, or undefined. */
  #gone(path: string, found: Found): "dead" | "not renewed" | undefined {
    const liveness: Liveness = found.identity === undefined ? "unknown" : livenessOf(found.identity);
    if (liveness === "dead") return "dead";
    if (this.#options.takeover === "dead") return undefined;
    const nowMs = this.#place.world.monotonicMs();
    const watched = this.#watched.get(path);
    if (watched?.mark !== found.mark) {
      this.#watched.set(path, { mark: found.mark, sinceMs: nowMs });
      return undefined;
    }
    const { staleMs } = this.#options;
    const limitMs = found.token === "" ? Math.min(NAMELESS_MS, staleMs) : staleMs;
    return nowMs - watched.sinceMs >= limitMs ? "not renewed" : undefined;
  }

  /** A holder that is proven dead writes nothing any more and leaves no evidence. */
  async #moveAside(path: string, judged: Found, why: "dead" | "not renewed"): Promise<void> {
    const { disk } = this.#place;
    const moved = await this.#move(path, this.#place.world.newId("holder"), judged);
    if (moved === undefined) return;
    this.#watched.delete(path);
    if (why === "dead") await disk.remove(moved);
    const holder = JSON.stringify(judged.identity ?? "unknown");
    this.#options.onProblem({ code: "lock_reclaimed", what: `${heldPath(path)} of ${holder}: ${why}` });
  }

  /** Moves the lock aside if it is the one that was judged; another one that was caught is put back. Where it is now. */
  async #move(path: string, name: string, judged: Pick<Found, "token" | "ino">): Promise<string | undefined> {
    const { disk } = this.#place;
    const aside = join(await this.#reclaimDirectory(path), name);
    const isMoved = await unlessMissing(disk.rename(heldPath(path), aside).then(() => true));
    if (isMoved === undefined) return undefined;
    const moved = await look(disk, aside);
    if (moved === undefined || isSame(moved, judged)) return aside;
    try {
      await disk.link(aside, heldPath(path));
      await disk.remove(aside);
    } catch (error) {
      // Somebody else took the lock meanwhile: what was moved stays as evidence, and its holder finds out.
      if (errnoOf(error) !== "EEXIST") throw error;
    }
    return undefined;
  }

  async #reclaimDirectory(path: string): Promise<string> {
    const directory = reclaimPath(path);
    try {
      await this.#place.disk.makeDirectory(directory);
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
    return directory;
  }

  /** Undefined: somebody was faster. */
  async #make(path: string): Promise<CreatedLock | undefined> {
    const { disk, world } = this.#place;
    const { staleMs } = this.#options;
    const token = world.newId("holder");
    const file = await open(disk, heldPath(path));
    if (file === undefined) return undefined;
    const { ino } = await file.stat({ bigint: true });
    let named = "";
    try {
      await writeAll(file, Buffer.from(`${JSON.stringify(identityOf(token))}\n`));
      named = token;
      const evidence = await this.#evidence(path);
      world.at("lock:after-take");
      const renewal = world.every(staleMs / 6, () => void this.#renew(file, path));
      return this.#lockOf(path, { file, token, ino, renewal, evidence });
    } catch (error) {
      await this.#giveBack(path, { file, token: named, ino });
      throw error;
    }
  }

  /** Locks that somebody moved aside. One under its own holder's name is no evidence: that is how they are given back. */
  async #evidence(path: string): Promise<readonly string[]> {
    const { disk } = this.#place;
    const evidence: string[] = [];
    for (const name of (await unlessMissing(disk.list(reclaimPath(path)))) ?? []) {
      const aside = join(reclaimPath(path), name);
      const found = await look(disk, aside);
      if (found !== undefined && found.token !== name) evidence.push(aside);
      if (found?.token === name) await disk.remove(aside);
    }
    return evidence;
  }

  #lockOf(
    path: string,
    mine: Mine & { readonly renewal: Disposable; readonly evidence: readonly string[] },
  ): CreatedLock {
    const { disk, world } = this.#place;
    const limitMs = this.#options.staleMs / 2;
    const [wallMs, monotonicMs] = [world.nowMs(), world.monotonicMs()];
    const isRecent = (): boolean =>
      Math.abs(world.nowMs() - wallMs) < limitMs && world.monotonicMs() - monotonicMs < limitMs;
    return {
      evidence: mine.evidence,
      clear: async () => {
        for (const seen of mine.evidence) await disk.remove(seen);
        await disk.syncDirectory(dirname(path));
      },
      isOurs: async () => isSame(await look(disk, heldPath(path)), mine) && isRecent(),
      release: async () => {
        mine.renewal[Symbol.dispose]();
        await this.#giveBack(path, mine);
      },
    };
  }

  /** One byte more in our own file, whatever its name is by now. */
  async #renew(file: DiskFile, path: string): Promise<void> {
    try {
      await file.write(Buffer.from("\n"), 0, 1);
    } catch (error) {
      this.#options.onProblem({ code: "lock_not_renewed", what: `${heldPath(path)}: ${String(error)}` });
    }
  }

  async #giveBack(path: string, mine: Mine): Promise<void> {
    const { disk } = this.#place;
    try {
      if (isSame(await look(disk, heldPath(path)), mine)) {
        const moved = await this.#move(path, mine.token || this.#place.world.newId("holder"), mine);
        if (moved !== undefined) await disk.remove(moved);
      }
    } catch (error) {
      this.#options.onProblem({ code: "lock_left", what: `${heldPath(path)}: ${String(error)}` });
    } finally {
      await mine.file.close();
    }
  }
}

interface Mine {
  readonly file: DiskFile;
  readonly token: string;
  readonly ino: bigint;
}

export const heldPath = (path: string): string => `${path}.held`;
export const reclaimPath = (path: string): string => `${path}.held.reclaim`;

function isSame(found: Found | undefined, mine: Pick<Found, "token" | "ino">): boolean {
  return found !== undefined && found.ino === mine.ino && found.token === mine.token;
}

async function open(disk: Disk, path: string): Promise<DiskFile | undefined> {
  try {
    return await disk.open(path, "new");
  } catch (error) {
    if (errnoOf(error) === "EEXIST") return undefined;
    throw error;
  }
}

/** Undefined where the file is not there. */
async function unlessMissing<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Who holds it, read anew. */
async function look(disk: Disk, path: string): Promise<Found | undefined> {
  try {
    await using file = await disk.open(path, "read");
    const { ino, size, mtimeNs } = await file.stat({ bigint: true });
    const bytes = Buffer.alloc(NAME_BYTES);
    const { bytesRead } = await file.read(bytes, 0, NAME_BYTES, 0);
    const identity = parseIdentity(tryParse(bytes.toString("utf8", 0, bytesRead).split("\n", 1)[0] ?? ""));
    return { token: identity?.token ?? "", identity, ino, mark: `${ino} ${size} ${mtimeNs} ${identity?.token}` };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
