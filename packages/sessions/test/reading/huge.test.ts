/**
 * Entries larger than any that we write, and files larger than a string, a buffer or 32 bits can be.
 * HOLDFAST_LARGE=1: a file of 2.2 GB of entries, and one whose entries stand around 4.3 GB that are nothing.
 */
import { closeSync, fsyncSync, ftruncateSync, openSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openTranscript } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { repairTranscript } from "../../src/keeping/repair.ts";
import { contextOfTranscript, treeOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import { answer, compaction, custom, fileOf, HEADER, tempDir, user } from "../support/make.ts";

const MIB = 2 ** 20;
const USER = { type: "message", message: { role: "user", content: "and on" } };
const large = test.runIf(process.env.HOLDFAST_LARGE === "1");

// Takes a second: that much is parsed several times.
test("an entry of 17 MB, which we would not write, is read by every way, and the conversation goes on", async () => {
  await using dir = await tempDir();
  const big = "ü".repeat(8.5 * MIB);
  const path = await dir.write("s-1.jsonl", fileOf([user("u1", null, "one"), answer("a1", "u1", big)]));
  expect(await verifyTranscript(path)).toMatchObject({ ok: true, entries: 2, damaged: [] });
  expect((await treeOfTranscript(path)).nodes.map(({ id }) => id)).toEqual(["u1", "a1"]);
  await using session = await openTranscript(path);
  await expect(session.append({ type: "custom", customType: "x", data: big })).rejects.toMatchObject({
    code: "bad_entry",
  });
  await session.append(USER);
  const { messages } = await contextOfTranscript(path);
  expect(messages.map(({ content }) => JSON.stringify(content).length > 8 * MIB)).toEqual([false, true, false]);
  expect(await repairTranscript(path)).toMatchObject({ repaired: null, entries: 3 });
});

// Takes a second: only what is longer than 256 MiB is too long.
test("a line of 300 MB is damage with a place and a length, and never becomes a string", async () => {
  await using dir = await tempDir();
  const path = await dir.write("s-1.jsonl", fileOf([user("u1", null, "one")]));
  const { size: offset } = statSync(path);
  const bytes = 300 * MIB;
  hole(path, bytes, `\n${JSON.stringify(answer("a1", "u1", "eins"))}\n`);
  const damaged = [{ line: 3, offset, bytes, why: "too long" }];
  expect(await verifyTranscript(path)).toMatchObject({ ok: false, entries: 2, damaged });
  expect((await contextOfTranscript(path)).entryIds).toEqual(["u1", "a1"]);
});

/** Bytes that were never written, then text. */
function hole(path: string, bytes: number, text: string): void {
  const fd = openSync(path, "r+");
  ftruncateSync(fd, statSync(path).size + bytes);
  closeSync(fd);
  const end = openSync(path, "a");
  writeSync(end, text);
  fsyncSync(end);
  closeSync(end);
}

// Takes about a minute.
large(
  "entries around 4.3 GB of nothing: offsets beyond 32 bits, in reports, trees, sidecars and appends",
  async () => {
    await using dir = await tempDir();
    const path = await dir.write("s-1.jsonl", fileOf([user("u1", null, "one"), answer("a1", "u1", "eins")]));
    const { size: offset } = statSync(path);
    const bytes = 4100 * MIB;
    hole(path, bytes, `\n${JSON.stringify(user("u2", "a1", "two"))}\n${JSON.stringify(user("v2", "a1", "zwei"))}\n`);
    expect(await verifyTranscript(path)).toMatchObject({
      entries: 4,
      leaf: "v2",
      damaged: [{ line: 4, offset, bytes }],
    });
    await using session = await openTranscript(path);
    expect((await session.context()).entryIds).toEqual(["u1", "a1", "v2"]);
    const { entries } = await session.append({ ...USER, parentId: "u2" });
    expect((await session.tree.children("a1")).map(({ id }) => id)).toEqual(["u2", "v2"]);
    expect((await session.tree.children("u2")).map(({ id }) => id)).toEqual([entries[0]?.id]);
    expect((await session.context({ leaf: entries[0]?.id ?? "" })).entryIds).toEqual([
      "u1",
      "a1",
      "u2",
      entries[0]?.id,
    ]);
    expect((await session.since("u2")).map(({ id }) => id)).toContain("v2");
  },
  300_000,
);

// Takes about a minute, and 2.2 GB of disk.
large(
  "2.2 GB of entries: opened for the price of the context, verified, paged and written on",
  async () => {
    await using dir = await tempDir();
    const path = join(dir.path, "s-1.jsonl");
    const fd = openSync(path, "a");
    const text = "x".repeat(4 * MIB);
    const count = 550;
    writeSync(fd, `${JSON.stringify(HEADER)}\n`);
    for (let at = 0; at < count; at++) writeSync(fd, fileLine(user(`e${at}`, at === 0 ? null : `e${at - 1}`, text)));
    writeSync(fd, fileLine(compaction("k", `e${count - 1}`, "k")));
    writeSync(fd, fileLine(custom("c", "k", "note")) + fileLine(user("u", "c", "now")));
    closeSync(fd);
    expect(statSync(path).size).toBeGreaterThan(2 ** 31);
    await using session = await openTranscript(path);
    expect((await session.context()).entryIds).toEqual(["k", "u"]);
    expect(session.report.bytesRead).toBeLessThan(MIB);
    expect(await verifyTranscript(path)).toMatchObject({ ok: true, entries: count + 3, leaf: "u" });
    await session.append(USER);
    expect((await session.tree.page({ before: "e3", limit: 2 })).map(({ id }) => id)).toEqual(["e1", "e2"]);
    expect(
      session
        .path()
        .map(({ id }) => id)
        .slice(-2, -1),
    ).toEqual(["u"]);
  },
  300_000,
);

function fileLine(entry: unknown): string {
  return `${JSON.stringify(entry)}\n`;
}
