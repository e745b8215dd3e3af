/** What is destroyed is nowhere any more: looked for byte by byte in the whole directory, packed files unpacked. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { openSessions, type Sessions } from "@holdfast/sessions";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TestDirectory, testDirectory } from "../support/directories.ts";
import { answer, call, user } from "../support/entries.ts";
import { type MovableWorld, movableWorld } from "../support/worlds.ts";

const KEY = "agent:main:telegram:direct:7";
const SECRET = "sk-very-secret";
let directory: TestDirectory;
let world: MovableWorld;
let sessions: Sessions;

beforeEach(async () => {
  directory = await testDirectory();
  world = movableWorld();
  sessions = await openSessions({ directory: directory.path }, world);
});
afterEach(async () => {
  await sessions.close();
  await directory[Symbol.asyncDispose]();
});

async function talk(key: string, text: string): Promise<string> {
  await using session = await sessions.open(key);
  await session.append([user(text), answer("yes")]);
  return session.id;
}

/** Files that hold a text, by name. */
async function holding(text: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(directory.path, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name));
    if ((entry.name.endsWith(".gz") ? gunzipSync(bytes) : bytes).includes(text)) found.push(entry.name);
  }
  return found;
}

test("transcripts of the key, live, archived, packed, reset and ended, and what the index said: all gone, others stay", async () => {
  const first = await talk(KEY, `one ${SECRET}`);
  await sessions.keep.reset(KEY);
  await talk(KEY, `two ${SECRET}`);
  await sessions.keep.clear(KEY);
  const last = await talk(KEY, `three ${SECRET}`);
  await sessions.update(KEY, { label: SECRET });
  const other = await talk("agent:main:main", "stays");
  expect((await holding(SECRET)).length).toBeGreaterThan(3);

  const dry = await sessions.keep.purge(KEY, { dryRun: true });
  expect(dry).toMatchObject({ dryRun: true, kept: null, tombstone: null });
  expect(dry.destroyed).toHaveLength(3);
  expect(await sessions.get(KEY)).toMatchObject({ sessionId: last });

  const done = await sessions.keep.purge(KEY);
  expect(done).toMatchObject({ kept: null, scrubbed: true, tombstone: expect.stringContaining(`${last}.purge.`) });
  expect(await holding(SECRET)).toEqual([]);
  expect(await sessions.get(KEY)).toBeUndefined();
  expect((await sessions.list()).map(({ row }) => row.sessionId)).toEqual([other]);
  expect(await holding("stays")).toEqual([`${other}.jsonl`]);
  for (const id of [first, last])
    await expect(sessions.keep.restore(id)).rejects.toMatchObject({ code: "session_missing" });
  expect(await readFile(join(directory.path, done.tombstone ?? ""), "utf8")).toContain('"reason":"purge"');
  expect((await sessions.keep.purge(KEY).catch((error) => error)).code).toBe("session_missing");
});

test("the key is free, an index made from the transcripts does not bring it back, retention leaves the tombstone", async () => {
  await talk(KEY, SECRET);
  const { tombstone } = await sessions.keep.purge(KEY);
  await sessions.close();
  for (const name of await readdir(directory.path)) {
    if (name.startsWith("sessions.") && !name.endsWith("lock")) await writeFile(join(directory.path, name), "");
  }
  world.advance(90 * 24 * 3_600_000);
  sessions = await openSessions({ directory: directory.path }, world);
  expect(await sessions.list()).toEqual([]);
  const policy = { maxAgeMs: 1, maxBytes: 1, backgroundMax: 0, archiveMaxAgeMs: 1 };
  expect((await sessions.keep.cleanup(policy)).deleted).toEqual([]);
  expect((await readdir(join(directory.path, "archive"))).join()).toContain(tombstone?.split("/")[1]);
  await talk(KEY, "anew");
  await using again = await sessions.open(KEY);
  expect((await again.context()).messages).toHaveLength(2);
});

test("what is worked on stays as it is; open calls are ended and their actions named", async () => {
  await talk(KEY, SECRET);
  const session = await sessions.open(KEY);
  const claim = await session.claimTurn("somebody", 60_000);
  expect(await sessions.keep.purge(KEY)).toMatchObject({ kept: "running", destroyed: [], tombstone: null });
  expect(await sessions.get(KEY)).toBeDefined();
  expect(await holding(SECRET)).not.toEqual([]);
  if (claim.kind === "claimed") await session.releaseTurn(claim.right);
  const intent = { type: "custom", customType: "holdfast:intent", data: { key: "k1", args: SECRET } };
  await session.append([{ ...call("c1"), id: "a" }, intent]);
  expect(await sessions.keep.purge(KEY)).toMatchObject({ kept: null, actions: ["k1"] });
  expect(await holding(SECRET)).toEqual([]);
});

test("killed on the way, doing it again does the rest", async () => {
  await talk(KEY, SECRET);
  await sessions.keep.reset(KEY);
  await talk(KEY, SECRET);
  const points: string[] = [];
  const counting = { ...world, at: (name: string) => void points.push(name) };
  await sessions.close();
  for (let round = 0; ; round++) {
    const dying = {
      ...counting,
      at(name: string): void {
        points.push(name);
        if (name.startsWith("archive:") && points.filter((one) => one.startsWith("archive:")).length > round)
          throw new Error("killed");
      },
    };
    points.length = 0;
    sessions = await openSessions({ directory: directory.path }, dying);
    const ended = await sessions.keep.purge(KEY).then(
      () => "done",
      (error: Error & { code?: string }) => error.code ?? error.message,
    );
    await sessions.close();
    if (ended !== "killed") break;
    expect(round).toBeLessThan(40);
  }
  sessions = await openSessions({ directory: directory.path }, world);
  expect(await holding(SECRET)).toEqual([]);
  expect(await sessions.list()).toEqual([]);
});
