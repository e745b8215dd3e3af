/**
 * Makes room: what actions that ended long ago left behind.
 *
 * Invariant: only what has `ended` beside it goes. An action without a result may still have to be settled, and the files of
 * its attempt are what tells; the record of a business act stays for good, since it is what keeps the act from being repeated.
 */
import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, tryFileLock } from "@holdfast/base";
import { backgroundCommands, forgetBackground } from "../tools/exec/background.ts";
import { ENDED } from "./folder.ts";

const KEY = /^[0-9a-f]{64}$/u;
const ATTEMPT = /^[1-9]\d*$/u;

/** Returns how many actions were swept. Leaves alone what somebody works on. Safe to repeat and to be killed in. */
export async function sweepActions(
  actions: string,
  { endedBeforeMs, signal }: { readonly endedBeforeMs: number; readonly signal: AbortSignal },
): Promise<number> {
  let swept = 0;
  for (const key of await namesIn(actions)) {
    if (signal.aborted) break;
    if (KEY.test(key) && (await isOver(join(actions, key), endedBeforeMs)) && (await sweepOne(join(actions, key))))
      swept += 1;
  }
  if (swept > 0) await forgetGone(actions);
  return swept;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  }
}

async function isOver(folder: string, endedBeforeMs: number): Promise<boolean> {
  const ended = await stat(join(folder, ENDED)).catch(() => null);
  return ended !== null && ended.mtimeMs < endedBeforeMs;
}

/** `ended` goes last of what it speaks of, so that a sweep that was cut off is gone on with. */
async function sweepOne(folder: string): Promise<boolean> {
  using lock = tryFileLock(join(folder, "lock"));
  if (lock === undefined) return false;
  const names = await namesIn(folder);
  for (const name of names) if (ATTEMPT.test(name)) await rm(join(folder, name), { recursive: true, force: true });
  await rm(join(folder, ENDED), { force: true });
  if (!names.includes("record.jsonl")) await rm(folder, { recursive: true, force: true });
  return true;
}

async function forgetGone(actions: string): Promise<void> {
  for (const { id, directory } of await backgroundCommands(actions))
    if ((await stat(directory).catch(() => null)) === null) await forgetBackground(actions, id);
}
