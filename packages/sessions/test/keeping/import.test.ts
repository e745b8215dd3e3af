/** Imports: what comes in is what was there, once, and the source is only read. */
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSessions } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { type ExportFormat, exportTranscript } from "../../src/keeping/export.ts";
import { importHistory } from "../../src/keeping/import.ts";
import { contextOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import { answer, call, compaction, custom, fileOf, make, result, tempDir, user } from "../support/make.ts";
import { piContext } from "../support/pi.ts";
import { testPlace } from "../support/place.ts";

const KEY = "agent:main:telegram:direct:7";
const ENTRIES = [
  user("u1", null, "one"),
  answer("a1", "u1", "eins"),
  call("c1", "a1", ["t1"]),
  result("r1", "c1", "t1"),
  compaction("k1", "r1", "c1"),
  user("u2", "k1", "two 二"),
  user("u3", "a1", "another way"),
  make("custom_message", "m1", "u3", { customType: "note", content: "seen", display: true }),
  make("branch_summary", "b1", "m1", { fromId: "u2", summary: "left" }),
  custom("l1", "u2", "holdfast:leaf", { from: "b1" }),
];

async function exported(file: string, format: ExportFormat): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of exportTranscript(file, { format, about: { key: KEY } })) pieces.push(String(piece));
  return pieces.join("");
}

describe.each(["jsonl", "json", "flat"] as const)("%s", (format) => {
  test("comes in with the same ids and the same context, and a second time adds nothing", async () => {
    await using dir = await tempDir();
    await using place = await testPlace();
    const original = await dir.write("s-1.jsonl", fileOf(ENTRIES));
    const file = await dir.write(`out.${format}`, await exported(original, format));
    const before = await readFile(file);
    const first = await importHistory(place, { file, key: KEY });
    expect(first).toMatchObject({ kind: "created", key: KEY });
    expect(await verifyTranscript(first.file)).toMatchObject({ ok: true });
    const [is, was] = [await contextOfTranscript(first.file), await contextOfTranscript(original)];
    expect(is.messages).toEqual(was.messages);
    expect(is.entryIds).toEqual(was.entryIds);
    expect((await piContext(first.file)).messages).toEqual(is.messages);
    const bytes = await readFile(first.file);
    expect(await importHistory(place, { file, key: KEY })).toMatchObject({ kind: "unchanged", added: 0 });
    expect(await readFile(first.file)).toEqual(bytes);
    expect(await readFile(file)).toEqual(before);
  });
});

test("the row has its times and origin, and the key opens the conversation", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  const file = await dir.write("s-1.jsonl", fileOf(ENTRIES));
  const origin = { channel: "telegram", chatType: "direct" };
  await importHistory(place, { file, key: KEY, origin, row: { label: "mine", extra: [1] } });
  const row = await place.store.get(KEY);
  const sent = Date.parse("2026-01-05T09:00:01.000Z");
  expect(row).toEqual({
    sessionId: "s-1",
    sessionFile: "s-1.jsonl",
    sessionStartedAt: Date.parse("2026-01-05T09:00:00.000Z"),
    lastInteractionAt: sent,
    updatedAt: sent,
    label: "mine",
    extra: [1],
    ...origin,
  });
  await using sessions = await openSessions({ directory: place.directory });
  await using session = await sessions.open(KEY);
  expect(session.found).toBe("resumed");
  expect((await session.context()).messages).toEqual((await contextOfTranscript(file)).messages);
});

test("a source that grew adds what is new", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  const file = await dir.write("s-1.jsonl", fileOf(ENTRIES.slice(0, 2)));
  await importHistory(place, { file, key: KEY });
  await appendFile(file, `${JSON.stringify(user("u9", "a1", "later"))}\n`);
  const again = await importHistory(place, { file, key: KEY });
  expect(again).toMatchObject({ kind: "extended", added: 1, entries: 3 });
  expect((await contextOfTranscript(again.file)).entryIds).toEqual(["u1", "a1", "u9"]);
});

test("another conversation under the key is not touched", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  const mine = await importHistory(place, { file: await dir.write("s-1.jsonl", fileOf(ENTRIES)), key: KEY });
  const bytes = await readFile(mine.file);
  const other = await dir.write("s-2.jsonl", fileOf([user("x1", null, "x")]));
  await expect(importHistory(place, { file: other, key: KEY })).rejects.toMatchObject({ code: "import_conflict" });
  await expect(importHistory(place, { file: other, key: "agent:main:main", sessionId: "s-1" })).rejects.toMatchObject({
    code: "import_conflict",
  });
  expect(await readFile(mine.file)).toEqual(bytes);
  expect(await place.store.get("agent:main:main")).toBeUndefined();
});

test("rights of the other store do not come along", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  const entries = [
    user("u1", null, "one", { g: 4, t: 2 }),
    custom("f", "u1", "holdfast:fence", { g: 9 }, { g: 9 }),
    answer("a1", "f", "eins", { g: 9, t: 2 }),
  ];
  const { file } = await importHistory(place, { file: await dir.write("s-1.jsonl", fileOf(entries)), key: KEY });
  const lines = (await readFile(file, "utf8"))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines.filter((line) => "g" in line || "t" in line)).toEqual([]);
  await using sessions = await openSessions({ directory: place.directory });
  await using session = await sessions.open(KEY);
  await session.append({ type: "message", message: { role: "user", content: "on" } });
  expect((await verifyTranscript(file)).stale).toEqual([]);
});

test("without a key the file's own is used; a file that names none is refused", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  const named = fileOf([custom("h", null, "holdfast:session", { key: KEY }), user("u1", null, "x")]);
  expect(await importHistory(place, { file: await dir.write("s-1.jsonl", named) })).toMatchObject({ key: KEY });
  const file = await dir.write("s-2.jsonl", fileOf([user("u1", null, "x")]));
  await expect(importHistory(place, { file })).rejects.toMatchObject({ code: "not_importable" });
});

test.each([
  ["a list", "[1,2]\n"],
  ["JSON without messages", '{\n  "session": {}\n}\n'],
  ["text", "hello\n"],
  ["nothing", ""],
])("%s is refused and leaves no trace", async (_name, text) => {
  await using dir = await tempDir();
  await using place = await testPlace();
  const file = await dir.write("x.json", text);
  await expect(importHistory(place, { file, key: KEY })).rejects.toMatchObject({
    code: expect.stringMatching(/^not_(importable|a_transcript)$/),
  });
  expect(await place.store.get(KEY)).toBeUndefined();
});

test("JSON that somebody indented is read as well", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  const original = await dir.write("s-1.jsonl", fileOf(ENTRIES));
  const file = join(dir.path, "x.json");
  await writeFile(file, JSON.stringify(JSON.parse(await exported(original, "json")), null, 2));
  const imported = await importHistory(place, { file });
  expect((await contextOfTranscript(imported.file)).messages).toEqual((await contextOfTranscript(original)).messages);
});
