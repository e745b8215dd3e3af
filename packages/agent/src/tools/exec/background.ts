/**
 * Commands in the background: which there are (`actions/.background/<id>`). What becomes of each stands in its own files.
 * Invariant: the note is durable before the model learns the id, so that a command never runs on without a name.
 */
import { mkdir, readdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isObject, syncDirectory } from "@holdfast/base";
import { putRecord, readRecord } from "./attempt.ts";

export interface BackgroundCommand {
  readonly id: string;
  readonly directory: string;
  readonly command: string;
  readonly startedMs: number;
}

const folderOf = (actions: string): string => join(actions, ".background");

/** The root of all actions, from one attempt's folder. */
export function actionsOf(attemptDirectory: string): string {
  return dirname(dirname(attemptDirectory));
}

export function backgroundId(attemptDirectory: string): string {
  return `${basename(dirname(attemptDirectory)).slice(0, 8)}-${basename(attemptDirectory)}`;
}

export async function noteBackground(
  attemptDirectory: string,
  about: Pick<BackgroundCommand, "command" | "startedMs">,
): Promise<void> {
  const actions = actionsOf(attemptDirectory);
  const folder = folderOf(actions);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await putRecord(folder, backgroundId(attemptDirectory), { directory: attemptDirectory, ...about });
  await syncDirectory(actions);
}

/** Oldest first. */
export async function backgroundCommands(actions: string): Promise<readonly BackgroundCommand[]> {
  const names = await readdir(folderOf(actions)).catch(() => []);
  const found = await Promise.all(names.filter((name) => !name.endsWith(".tmp")).map((id) => readOne(actions, id)));
  return found.filter((one) => one !== undefined).sort((a, b) => a.startedMs - b.startedMs);
}

/** The command itself is not touched. */
export async function forgetBackground(actions: string, id: string): Promise<void> {
  await rm(join(folderOf(actions), id), { force: true });
}

async function readOne(actions: string, id: string): Promise<BackgroundCommand | undefined> {
  const note = await readRecord(folderOf(actions), id);
  if (!isObject(note) || typeof note.directory !== "string") return undefined;
  return { id, directory: note.directory, command: String(note.command), startedMs: Number(note.startedMs) };
}
