/**
 * What a destroyed conversation leaves outside of its transcripts: folders of its actions, and copies that nobody here reaches.
 * Invariant: of the record of a business act stays that it was done, and how it ended: without it the act would be done again.
 */
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { diskFolders } from "@holdfast/agent";
import { isObject, tryParse, type World, writeWhole } from "@holdfast/base";
import { parseSessionKey, type Purge, type SessionRow, type Sessions } from "@holdfast/sessions";
import type { WirePurged } from "./wire/acts.ts";

const RECORD = "record.jsonl";

export interface PurgeRequest {
  readonly key: string;
  readonly dryRun: boolean;
  /** The home directory. */
  readonly home: string;
  readonly world: World;
}

/** Throws what purging throws, and what the file system throws on a folder. */
export async function purgeAll(sessions: Sessions, { key, dryRun, home, world }: PurgeRequest): Promise<WirePurged> {
  const row = await sessions.get(key);
  const done = await sessions.keep.purge(key, { dryRun });
  const isDone = done.kept === null && !dryRun;
  const actions = isDone ? await emptied(join(home, "actions"), done.actions, world) : { count: 0, busy: [] };
  const unreachable = [...actions.busy, ...(await copiesOf(home, done, row))];
  return { ...done, folders: actions.count, unreachable };
}

/** An action that somebody performs or settles right now is left, and named. */
async function emptied(
  actions: string,
  keys: readonly string[],
  world: World,
): Promise<{ readonly count: number; readonly busy: readonly string[] }> {
  const folders = diskFolders(actions);
  const busy: string[] = [];
  let count = 0;
  for (const key of keys) {
    const folder = join(actions, key);
    if (!/^[A-Za-z0-9_-]+$/.test(key) || !existsSync(folder)) continue;
    using lock = await folders.lock(key, world.newId("holder"));
    if (lock === undefined) {
      busy.push(folder);
      continue;
    }
    for (const name of await readdir(folder)) {
      if (name !== RECORD && name !== "lock") await rm(join(folder, name), { recursive: true });
    }
    const record = await folders.readRecord(key);
    if (record !== "") await writeWhole(world, join(folder, RECORD), bareRecord(record));
    count += 1;
  }
  return { count, busy };
}

/** Its lines without what was said or seen. */
function bareRecord(text: string): string {
  const lines = text.split("\n").map(tryParse).filter(isObject);
  return lines.map((line) => `${JSON.stringify(bareLine(line))}\n`).join("");
}

function bareLine({ evidence, outcome, ...line }: Readonly<Record<string, unknown>>): object {
  const ok = isObject(outcome) && outcome.ok === true;
  return {
    ...line,
    ...(evidence === undefined ? {} : { evidence: {} }),
    ...(outcome === undefined ? {} : { outcome: { ok, text: "What it said was destroyed at a person's wish." } }),
  };
}

async function copiesOf(home: string, done: Purge, row: SessionRow | undefined): Promise<readonly string[]> {
  const { agentId } = parseSessionKey(done.key);
  const directory = join(home, "agents", agentId, "sessions");
  const ids = new Set(done.destroyed.map(({ file }) => file.replace(/^archive\//, "").split(".", 1)[0] ?? ""));
  const gone = new Set(done.destroyed.map(({ file }) => file));
  const beside = existsSync(directory) ? await readdir(directory) : [];
  const copies = beside.filter(
    (name) => ids.has(name.split(".", 1)[0] ?? "") && !gone.has(name) && !/\.(lock|index)$/.test(name),
  );
  const lanes = join(home, "lanes.sqlite");
  const importedFrom = row?.importedFrom;
  const source = isObject(importedFrom) ? importedFrom.file : null;
  return [
    ...copies.map((name) => join(directory, name)),
    ...(existsSync(lanes) ? [`${lanes} (messages and replies of the last days)`] : []),
    ...(typeof source === "string" ? [`${source} (it was imported from there)`] : []),
    "backups of this disk, exports, and what channels and model providers keep",
  ];
}
