/**
 * An action's own place: its key, its lock, a folder for each attempt (docs/format.md, `actions/<key>/`).
 *
 * Invariant: whoever performs or settles an action holds its lock from before the intent until the result is durable.
 * A number in a log cannot stop an effect in the outside world; the kernel's lock on this folder can.
 */
import { mkdir, open, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  digest,
  errnoOf,
  type FileLock,
  identityOf,
  makePrivateDirectory,
  syncDirectory,
  tryFileLock,
  readText,
} from "@holdfast/base";
import type { Agent } from "../types.ts";

/** Where actions have their places. The one on disk is `diskFolders`; a simulated disk has its own. */
export interface ActionFolders {
  /** Takes the action's lock, or returns undefined: somebody performs or settles it now. */
  lock(key: string, holder: string): Promise<(Pick<FileLock, "release"> & Disposable) | undefined>;
  /** The attempt's folder. */
  attempt(key: string, number: number): string;
  /** Makes it, durable before the intent names it. */
  makeAttempt(key: string, number: number): Promise<string>;
  /** The record of a business act, "" where there is none. */
  readRecord(key: string): Promise<string>;
  /** Adds to it, durably. */
  addToRecord(key: string, text: string): Promise<void>;
  /** Its result is durable, so its folder is not needed to settle it. A hint, for `sweepActions`: it may be lost. */
  ended?(key: string): Promise<void>;
}

/** In an action's folder: made when its result was durable. */
export const ENDED = "ended";

/** The key of the n-th call of an answer: the same in every attempt. */
export function actionKey(sessionId: string, entryId: string, ordinal: number): string {
  return digest(["action", sessionId, entryId, ordinal]);
}

export function diskFolders(actions: string): ActionFolders {
  const attempt = (key: string, number: number): string => join(actions, key, String(number));
  const record = (key: string): string => join(actions, key, "record.jsonl");
  const readRecord = async (key: string): Promise<string> => {
    try {
      return await readText(record(key));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return "";
      throw error;
    }
  };
  return {
    attempt,
    async lock(key, holder) {
      const folder = join(actions, key);
      const created = await mkdir(folder, { recursive: true, mode: 0o700 });
      // Also the name of the root itself, where this is the first action of all.
      if (created !== undefined) await syncDirectory(actions);
      if (created !== undefined && created !== folder) await syncDirectory(dirname(created));
      const lock = tryFileLock(join(folder, "lock"));
      lock?.note(identityOf(holder));
      return lock;
    },
    async makeAttempt(key, number) {
      const path = attempt(key, number);
      await makePrivateDirectory(path);
      await syncDirectory(join(actions, key));
      return path;
    },
    readRecord,
    async ended(key) {
      // Without it the folder is kept, which costs room and nothing else.
      await writeFile(join(actions, key, ENDED), "", { mode: 0o600 }).catch(() => undefined);
    },
    async addToRecord(key, text) {
      await using file = await open(record(key), "a", 0o600);
      await file.writeFile(text);
      await file.sync();
      // Every time: who made the file may have died before its name was durable.
      await syncDirectory(join(actions, key));
    },
  };
}

/** The places of this agent's actions. */
export function foldersOf({ home, folders }: Pick<Agent, "home" | "folders">): ActionFolders {
  return folders ?? diskFolders(home.actions);
}
