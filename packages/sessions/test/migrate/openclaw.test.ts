/** OpenClaw homes of both kinds brought over: what comes, what does not, and that the source is only read. */
import { appendFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { migrateOpenClaw } from "../../src/migrate/openclaw.ts";
import { contextOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import { hashesOf } from "../support/hashes.ts";
import { tempDir } from "../support/make.ts";
import { DIRECT, GROUP, jsonHome, OLD, sqliteHome } from "../support/openclaw-home.ts";
import { testPlace } from "../support/place.ts";

const textsIn = async (file: string) =>
  (await contextOfTranscript(file)).messages.map(({ content }) => (content as { text: string }[])[0]?.text);

test("sessions.json: keys one to one, rows with what they say, transcripts, archives; everything else with a reason", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  await jsonHome(dir.path);
  const before = await hashesOf(dir.path);
  const options = { from: dir.path, placeFor: async () => place };
  const report = await migrateOpenClaw(options);
  expect(report.carried.map(({ key, kind }) => [key, kind])).toEqual([
    ["agent:main:main", "created"],
    ["agent:main:telegram:group:-100:topic:7", "created"],
    ["agent:main:global", "created"],
  ]);
  expect(await place.store.get("agent:main:main")).toEqual({
    sessionId: DIRECT,
    sessionFile: `${DIRECT}.jsonl`,
    updatedAt: 1782139670436,
    sessionStartedAt: 1782133293560,
    lastInteractionAt: 1782139522512,
    status: "done",
    modelOverride: "gpt-5.2",
    providerOverride: "openai",
    compactionCount: 2,
    channel: "telegram",
    chatType: "direct",
    importedFrom: { program: "openclaw", sessionId: DIRECT },
  });
  expect((await place.store.get("agent:main:telegram:group:-100:topic:7"))?.sessionId).toBe(GROUP);
  expect(await textsIn(join(place.directory, `${DIRECT}.jsonl`))).toEqual(["hello", "yes"]);
  expect(report.skipped.map(({ source }) => source.split("/").at(-1))).toEqual([
    'sessions.json "agent:main:gone"',
    'sessions.json "agent:main:outside"',
    `${DIRECT}.trajectory.jsonl`,
  ]);
  expect(report.notes).toEqual([
    expect.stringContaining("skillsSnapshot"),
    expect.stringContaining("agent:main:global"),
  ]);
  expect((await readdir(join(place.directory, "archive"))).toSorted()).toEqual([
    `${OLD}.reset.2026-05-01T04-00-00-000Z.jsonl`,
    expect.stringMatching(/^forgotten\.unreferenced\./),
  ]);
  const again = await migrateOpenClaw(options);
  expect(again.carried.map(({ kind }) => kind)).toEqual(["unchanged", "unchanged", "unchanged"]);
  expect(await readdir(join(place.directory, "archive"))).toHaveLength(2);
  expect(await hashesOf(dir.path)).toEqual(before);
});

test("the SQLite store: what was not checkpointed, what is compressed, the leaf, a reset, earlier sessions and archives", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  using _database = await sqliteHome(dir.path);
  const before = await hashesOf(dir.path);
  const options = { from: dir.path, placeFor: async () => place };
  const report = await migrateOpenClaw(options);
  expect(report.skipped).toEqual([]);
  expect(report.carried).toMatchObject([{ key: "agent:main:main", kind: "created", sessionId: DIRECT, entries: 7 }]);
  const file = join(place.directory, `${DIRECT}.jsonl`);
  expect(await verifyTranscript(file)).toMatchObject({ ok: true });
  expect(await textsIn(file)).toEqual(["after", "first answer"]);
  expect(await readFile(file, "utf8")).toContain("before the reset");
  expect(await place.store.get("agent:main:main")).toMatchObject({
    thinkingLevel: "high",
    label: "mine",
    lastInteractionAt: 8,
    updatedAt: 9,
  });
  const archive = join(place.directory, "archive");
  expect((await readdir(archive)).toSorted()).toEqual([
    `${OLD}.earlier.1970-01-01T00-00-00-001Z.jsonl`,
    "put-away.deleted.1970-01-01T00-00-01-000Z.jsonl",
  ]);
  expect(await textsIn(join(archive, "put-away.deleted.1970-01-01T00-00-01-000Z.jsonl"))).toEqual(["archived", "yes"]);
  expect((await migrateOpenClaw(options)).carried).toMatchObject([{ kind: "unchanged" }]);
  expect(await readdir(place.directory)).not.toContain(".migrating");
  expect(await hashesOf(dir.path)).toEqual(before);
});

test("an entry that moved the leaf is honoured", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  await jsonHome(dir.path);
  const moved = {
    type: "leaf",
    id: "l1",
    parentId: `${DIRECT}-a`,
    targetId: `${DIRECT}-u`,
    timestamp: "2026-01-05T09:00:02.000Z",
  };
  await appendFile(join(dir.path, "agents/main/sessions", `${DIRECT}.jsonl`), `${JSON.stringify(moved)}\n`);
  await migrateOpenClaw({ from: dir.path, placeFor: async () => place });
  expect(await textsIn(join(place.directory, `${DIRECT}.jsonl`))).toEqual(["hello"]);
});

test("a broken sessions.json costs no transcript", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  await jsonHome(dir.path);
  await writeFile(join(dir.path, "agents/main/sessions/sessions.json"), "\0".repeat(100));
  const report = await migrateOpenClaw({ from: dir.path, placeFor: async () => place });
  expect(report.carried).toEqual([]);
  expect(report.archived).toHaveLength(5);
});
