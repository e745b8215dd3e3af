/**
 * An action's own place: its key, its lock, a folder for each attempt (docs/format.md, `actions/<key>/`).
 *
 * Invariant: whoever performs or settles an action holds its lock from before the intent until the result is durable.
 * A number in a log cannot stop an effect in the outside world; the kernel's lock on this folder can.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { digest, type FileLock, identityOf, makePrivateDirectory, syncDirectory, tryFileLock } from "@holdfast/base";

/** The key of the n-th call of an answer: the same in every attempt. */
export function actionKey(sessionId: string, entryId: string, ordinal: number): string {
  return digest(["action", sessionId, entryId, ordinal]);
}

export function attemptDirectory(actions: string, key: string, attempt: number): string {
  return join(actions, key, String(attempt));
}

/** Takes the action's lock, or returns undefined: somebody performs or settles it now. */
export async function lockAction(actions: string, key: string, holder: string): Promise<FileLock | undefined> {
  const folder = join(actions, key);
  const created = await mkdir(folder, { recursive: true, mode: 0o700 });
  if (created !== undefined) await syncDirectory(actions);
  const lock = tryFileLock(join(folder, "lock"));
  lock?.note(identityOf(holder));
  return lock;
}

/** The attempt's folder, durable before the intent names it. */
export async function makeAttemptDirectory(actions: string, key: string, attempt: number): Promise<string> {
  const path = attemptDirectory(actions, key, attempt);
  await makePrivateDirectory(path);
  await syncDirectory(join(actions, key));
  return path;
}
