/**
 * The locks of the index, `sessions.lock` for changes and `sessions.fold.lock` for folding, in the mode of the store.
 *
 * Where a lock can be taken from somebody who wakes later (mode `create`), a new journal is the fence: what he still adds to
 * the old one was acknowledged to nobody and comes before everything that is. A fold has no such fence, since a snapshot put
 * in place late would hide rows whose journals are gone. So a fold's lock is only taken over from the dead.
 */
import { join } from "node:path";
import { SessionError } from "../../errors.ts";
import { CreateLocks } from "./create-lock.ts";
import type { Place } from "./disk.ts";
import { during } from "./storage-error.ts";
import { noRun } from "./kept-files.ts";
import { type LockOptions, takeLock } from "./write-lock.ts";

export interface IndexLock extends AsyncDisposable {
  /** Begin a new journal before anything else, then `fenced`. */
  readonly mustFence: boolean;
  fenced(): Promise<void>;
  /** Throws `stale_fence` when the lock is not ours any more. */
  check(): Promise<void>;
}

export interface IndexLocks {
  take(): Promise<IndexLock>;
  /** Undefined when somebody folds right now. */
  tryFold(): Promise<AsyncDisposable | undefined>;
  /** Whether what is open may stay open between two locks. */
  readonly canKeep: boolean;
  /** Closes what stayed open. */
  close(): void;
}

export function indexLocks(directory: string, place: Place, options: LockOptions): IndexLocks {
  return options.mode === "create" ? createdLocks(directory, place, options) : kernelLocks(directory, place, options);
}

function kernelLocks(directory: string, place: Place, { timeoutMs }: LockOptions): IndexLocks {
  const path = join(directory, "sessions.lock");
  const kept = place.disk.locks.keep?.(path);
  const run = noRun();
  return {
    canKeep: kept !== undefined,
    close: () => kept?.close(),
    async take() {
      const lock = await takeLock(path, place, timeoutMs, { lock: kept, run });
      const nothing = async (): Promise<void> => {};
      const release = async (): Promise<void> => {
        lock.release();
        run.lastMs = place.world.monotonicMs();
      };
      return { mustFence: false, fenced: nothing, check: nothing, [Symbol.asyncDispose]: release };
    },
    async tryFold() {
      const lock = place.disk.locks.tryLock(join(directory, "sessions.fold.lock"));
      return lock && { [Symbol.asyncDispose]: async () => lock.release() };
    },
  };
}

function createdLocks(directory: string, place: Place, options: LockOptions): IndexLocks {
  const changes = new CreateLocks(place, options);
  const folds = new CreateLocks(place, { ...options, takeover: "dead" });
  const path = join(directory, "sessions");
  return {
    canKeep: false,
    close: () => {},
    async take() {
      const lock = await changes.take(path);
      return {
        mustFence: lock.evidence.length > 0,
        fenced: () => during(path, "lock", () => lock.clear()),
        async check() {
          if (!(await during(path, "lock", () => lock.isOurs())))
            throw new SessionError("stale_fence", { path, g: "a newer one" });
        },
        [Symbol.asyncDispose]: () => lock.release(),
      };
    },
    async tryFold() {
      const lock = await folds.tryTake(join(directory, "sessions.fold"));
      return "heldBy" in lock ? undefined : { [Symbol.asyncDispose]: () => lock.release() };
    },
  };
}
