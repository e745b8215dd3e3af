/** OpenClaw homes of both kinds brought over: what comes, what does not, and that the source is only read. */
import { createHash } from "node:crypto";
import { appendFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { zstdCompressSync } from "node:zlib";
import { openSessions } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { migrateOpenClaw } from "../../src/migrate/openclaw.ts";
import { contextOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import { hashesOf } from "../support/hashes.ts";
import { answer, fileOf, HEADER, tempDir, user } from "../support/make.ts";
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
  ]);
  expect(report.left.map(({ source }) => source.split("/").at(-1))).toEqual([`${DIRECT}.trajectory.jsonl`]);
  expect(report.notes).toEqual([
    expect.stringContaining("skillsSnapshot"),
    expect.stringContaining("agent:main:global"),
  ]);
  expect((await readdir(join(place.directory, "archive"))).toSorted()).toEqual([
    `${OLD}.reset.20260501T040000000Z.jsonl`,
    expect.stringMatching(/^forgotten\.unreferenced\.\d{8}T\d{9}Z\.jsonl$/),
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
    `${OLD}.earlier.19700101T000000001Z.jsonl`,
    "put-away.deleted.19700101T000001000Z.jsonl",
  ]);
  expect(await textsIn(join(archive, "put-away.deleted.19700101T000001000Z.jsonl"))).toEqual(["archived", "yes"]);
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

test("what was put away there is in our archive, can be got back whole, and what is no conversation is named", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  await jsonHome(dir.path);
  const folder = join(dir.path, "agents/main/sessions");
  const text = (name: string) => fileOf([user(`${name}-u`, null, name)], { ...HEADER, id: name });
  const away: Readonly<Record<string, string>> = {
    "gone.jsonl.deleted.2026-05-22T04-00-01.123Z": "gone.deleted.20260522T040001123Z.jsonl",
    "kept.jsonl.bak.2026-05-22T04-00-01.123Z": "kept.bak.20260522T040001123Z.jsonl",
    "mended.jsonl.bak-77-1782133293560": "mended.bak.20260622T130133560Z.jsonl",
  };
  for (const name of Object.keys(away)) await writeFile(join(folder, name), text(name.split(".")[0]!));
  const others = ["sessions.json.bak.1", "x.jsonl.lock", "x.trajectory-path.json", "x.checkpoint.1.jsonl"];
  for (const name of others) await writeFile(join(folder, name), "{}\n");
  const report = await migrateOpenClaw({ from: dir.path, placeFor: async () => place });
  const archive = await readdir(join(place.directory, "archive"));
  expect(archive).toEqual(expect.arrayContaining(Object.values(away)));
  expect(report.archived).toHaveLength(2 + Object.keys(away).length);
  const left = report.left.map(({ source }) => source.split("/").at(-1)!);
  expect(left.toSorted()).toEqual([...others, `${DIRECT}.trajectory.jsonl`].toSorted());
  await using sessions = await openSessions({ directory: place.directory });
  expect(await sessions.keep.restore("gone", "agent:main:back")).toMatchObject({ row: { sessionId: "gone" } });
  await using back = await sessions.open("agent:main:back");
  expect((await back.context()).entryIds).toEqual(["gone-u"]);
});

test("cold storage: a conversation that was moved out of the database comes over, others into the archive", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  using database = await sqliteHome(dir.path);
  const folder = join(dir.path, "agents/main/sessions/cold");
  await mkdir(folder, { recursive: true });
  const freeze = async (text: string): Promise<string> => {
    const hash = createHash("sha256").update(text).digest("hex");
    await writeFile(join(folder, `${hash}.jsonl.zst`), zstdCompressSync(text));
    return hash;
  };
  const long = "x".repeat(300_000);
  await freeze(fileOf([user("c1", null, long), answer("c2", "c1", "still here")], { ...HEADER, id: "cold-one" }));
  const bare = `${JSON.stringify(user("b1", null, "without a header"))}\n`;
  const hash = await freeze(bare);
  await writeFile(join(folder, `${"0".repeat(64)}.jsonl.zst`), "not packed at all");
  const insert = database.prepare("INSERT INTO session_nodes VALUES (?, ?, '{}', 1, 9, 'done', NULL, NULL, 8)");
  insert.run("agent:main:slept", "cold-one");
  database.exec("CREATE TABLE session_transcript_cold_archives (session_id TEXT, relative_path TEXT)");
  const named = database.prepare("INSERT INTO session_transcript_cold_archives VALUES (?, ?)");
  named.run("cold-two", `cold/${hash}.jsonl.zst`);
  const report = await migrateOpenClaw({ from: dir.path, placeFor: async () => place });
  expect(report.carried.map(({ key }) => key)).toEqual(["agent:main:main", "agent:main:slept"]);
  expect(await textsIn(join(place.directory, "cold-one.jsonl"))).toEqual([long, "still here"]);
  const frozen = (await readdir(join(place.directory, "archive"))).find((name) => name.includes(".cold."));
  expect(frozen).toMatch(/^cold-two\.cold\.\d{8}T\d{9}Z\.jsonl$/);
  expect(await readFile(join(place.directory, "archive", frozen ?? ""), "utf8")).toBe(bare);
  expect(report.skipped.map(({ source }) => source)).toEqual([join(folder, `${"0".repeat(64)}.jsonl.zst`)]);
});

test("a row that was made from its transcript alone learns what the source says; what was said here since counts more", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  await jsonHome(dir.path);
  const options = { from: dir.path, placeFor: async () => place };
  await migrateOpenClaw(options);
  const bare = { sessionId: DIRECT, sessionFile: `${DIRECT}.jsonl` };
  await place.store.update("agent:main:main", () => ({ ...bare, updatedAt: 1 }));
  await migrateOpenClaw(options);
  expect(await place.store.get("agent:main:main")).toMatchObject({
    ...bare,
    modelOverride: "gpt-5.2",
    updatedAt: 1782139670436,
  });
  const since = { ...bare, lastInteractionAt: 1_900_000_000_000, modelOverride: "chosen here" };
  await place.store.update("agent:main:main", () => since);
  await migrateOpenClaw(options);
  expect(await place.store.get("agent:main:main")).toMatchObject({ ...since, status: "done", compactionCount: 2 });
});
