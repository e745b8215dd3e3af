/** Cases of peers in which damage to a transcript cost its history: each named by its id in the collection. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSessions, openTranscript } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { repairTranscript } from "../../src/keeping/repair.ts";
import { contextOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import { answer, call, custom, fileOf, result, tempDir, user } from "../support/make.ts";
import { piContext } from "../support/pi.ts";

const m1 = user("m1", null, "a");
const m2 = answer("m2", "m1", "b");

test("B015 after a half-written record the next one stands on a line of its own, and both neighbours live", async () => {
  await using dir = await tempDir();
  const torn = `${fileOf([m1, m2])}{"type":"message","id":"m3"`;
  const whole = fileOf([m1, m2]).trimEnd();
  for (const [name, text] of [
    ["torn.jsonl", torn],
    ["whole.jsonl", whole],
  ] as const) {
    const file = await dir.write(name, text);
    {
      await using reading = await openTranscript(file);
      expect(reading.path().map(({ id }) => id)).toEqual(["m1", "m2"]);
      expect(await readFile(file, "utf8")).toBe(text);
      await reading.append({ id: "m4", type: "message", message: { role: "user", content: "c" } });
      await reading.append({ id: "m5", type: "message", message: { role: "assistant", content: [] } });
    }
    await using again = await openTranscript(file);
    expect(again.path().map(({ id }) => id)).toEqual(["m1", "m2", "m4", "m5"]);
    expect((await readFile(file, "utf8")).startsWith(text)).toBe(true);
  }
});

test("B017 a damaged header wipes nothing: opened for writing, closed, written on, repaired", async () => {
  await using dir = await tempDir();
  const text = `{"type":"sess\n${[user("m1", null, "keep me"), m2].map((one) => JSON.stringify(one)).join("\n")}\n`;
  const file = await dir.write("s-9.jsonl", text);
  {
    await using session = await openTranscript(file);
    expect(session.path().map(({ id }) => id)).toEqual(["m1", "m2"]);
  }
  expect(await readFile(file, "utf8")).toBe(text);
  const { repaired } = await repairTranscript(file);
  expect((await verifyTranscript(repaired ?? "")).header).toEqual({ state: "ok", version: 3, id: "s-9" });
  expect((await piContext(repaired ?? "")).messages).toHaveLength(2);
  expect(await readFile(file, "utf8")).toBe(text);
});

test("B018 repair survives a half-written last line, a blank line after it, and bad lines in the middle", async () => {
  await using dir = await tempDir();
  const entries = Array.from({ length: 20 }, (_, n) => user(`e${n}`, n === 0 ? null : `e${n - 1}`, `text ${n}`));
  const lines = fileOf(entries).trimEnd().split("\n");
  const torn = '{"type":"mess';
  const variants = [
    [...lines, torn],
    [...lines, torn, ""],
    [...lines.slice(0, 9), "]]", torn, ...lines.slice(9), torn],
  ];
  for (const [number, variant] of variants.entries()) {
    const file = await dir.write(`v${number}.jsonl`, variant.join("\n"));
    const report = await repairTranscript(file);
    expect(report.entries).toBe(20);
    expect(await verifyTranscript(report.repaired ?? "")).toMatchObject({ ok: true, entries: 20, leaf: "e19" });
    expect(await readFile(report.damaged ?? "", "utf8")).toContain(torn);
    expect(report.changes.map(({ line }) => line)).toContain(variant.lastIndexOf(torn) + 1);
    expect(await repairTranscript(file)).toEqual(report);
    expect((await repairTranscript(report.repaired ?? "")).repaired).toBeNull();
  }
});

test("B021 half an emoji is stored safely, and a file that holds one as text is repaired to well-formed UTF-8", async () => {
  await using dir = await tempDir();
  const file = join(dir.path, "s-1.jsonl");
  {
    await using session = await openTranscript(file, { create: true });
    await session.append({ type: "message", message: { role: "user", content: `${"x".repeat(1199)}\ud83d` } });
  }
  expect(Buffer.from(await readFile(file)).toString("utf8")).not.toContain("\ufffd");
  expect(await verifyTranscript(file)).toMatchObject({ ok: true });
  const bytes = Buffer.concat([Buffer.from(fileOf([m1, m2]).replace('"a"', '"a$"'))]);
  bytes[bytes.indexOf("$")] = 0xed;
  await writeFile(file, bytes);
  const { repaired, changes } = await repairTranscript(file);
  expect(changes.map(({ what }) => what)).toEqual(["text_cleaned"]);
  expect((await readFile(repaired ?? "")).toString("utf8")).toContain("a\ufffd");
  expect(await verifyTranscript(repaired ?? "")).toMatchObject({ ok: true });
});

test("B023 bytes of a binary poison nothing: stored, read, and repaired where they stand raw in a file", async () => {
  await using dir = await tempDir();
  const raw = Buffer.concat([Buffer.from(fileOf([m1, m2])), Buffer.from([0x00, 0xff, 0xfe, 0x41, 0x00, 0x0a])]);
  const file = await dir.write("s-1.jsonl", raw);
  {
    await using session = await openTranscript(file);
    const text = Buffer.from([0x00, 0xff, 0xfe, 0x41, 0x00]).toString("utf8");
    await session.append({ id: "m3", type: "message", message: { role: "user", content: text } });
  }
  expect((await contextOfTranscript(file)).messages).toHaveLength(3);
  const { repaired, damaged } = await repairTranscript(file);
  expect(await readFile(damaged ?? "")).toEqual(Buffer.from([0x00, 0xff, 0xfe, 0x41, 0x00, 0x0a]));
  expect((await piContext(repaired ?? "")).messages).toEqual((await contextOfTranscript(file)).messages);
});

test("B025 a file edited on Windows: byte order mark, CRLF, blank lines, no last line end", async () => {
  await using dir = await tempDir();
  const text = `\uFEFF${fileOf([m1, m2]).replaceAll("\n", "\r\n").replace("\r\n", "\r\n\r\n\r\n").trimEnd()}`;
  const file = await dir.write("s-1.jsonl", text);
  expect((await verifyTranscript(file)).header).toMatchObject({ state: "ok", id: "s-1" });
  {
    await using session = await openTranscript(file);
    await session.append({ id: "m3", type: "message", message: { role: "user", content: "c" } });
    expect(session.path().map(({ id }) => id)).toEqual(["m1", "m2", "m3"]);
  }
  expect((await readFile(file, "utf8")).startsWith(text)).toBe(true);
  const { repaired } = await repairTranscript(file);
  expect((await piContext(repaired ?? "")).messages).toHaveLength(3);
});

test("B027 parents in a loop: reading ends, says so, and writing goes on", async () => {
  await using dir = await tempDir();
  const loops = [
    [user("m1", "m3", "a"), answer("m2", "m1", "b"), user("m3", "m2", "c")],
    [user("m1", "m1", "a"), answer("m2", "m1", "b")],
    [user("m1", "m2", "a"), user("m2", "m1", "b"), user("m3", "m4", "c"), user("m4", "m3", "d"), user("m5", "m1", "e")],
  ];
  for (const [number, entries] of loops.entries()) {
    const file = await dir.write(`l${number}.jsonl`, fileOf(entries));
    const verified = await verifyTranscript(file);
    expect(verified.gaps.length).toBeGreaterThan(0);
    {
      await using session = await openTranscript(file);
      await session.append({ id: "new", type: "message", message: { role: "user", content: "on" } });
      expect(session.path().at(0)?.id).toBe("m1");
    }
    const { repaired } = await repairTranscript(file);
    expect(await verifyTranscript(repaired ?? "")).toMatchObject({ ok: true, leaf: "new" });
    expect((await piContext(repaired ?? "")).messages).toEqual((await contextOfTranscript(file)).messages);
  }
});

test("B029 housekeeping under an earlier entry moves the leaf only where it says so; one answer per question", async () => {
  await using dir = await tempDir();
  const entries = [m1, call("m2", "m1", ["t1"]), result("m3", "m2", "t1"), answer("m4", "m3", "done")];
  const late = custom("k1", "m3", "cache-ttl", {}, { returnTo: "m4" });
  const file = await dir.write("s-1.jsonl", fileOf([...entries, late]));
  {
    await using session = await openTranscript(file);
    await session.append({ id: "m5", type: "message", message: { role: "user", content: "next" } });
  }
  expect((await contextOfTranscript(file)).entryIds).toEqual(["m1", "m2", "m3", "m4", "m5"]);
  const { repaired } = await repairTranscript(file);
  expect((await contextOfTranscript(repaired ?? file)).entryIds).toEqual(["m1", "m2", "m3", "m4", "m5"]);
});

test("B031 a call whose arguments broke off with raw control characters is damage of one line", async () => {
  await using dir = await tempDir();
  const broken =
    '{"type":"message","id":"m3","parentId":"m2","message":{"role":"assistant","content":[{"arguments":"{\\"cmd\\":\\"a';
  const file = await dir.write(
    "s-1.jsonl",
    `${fileOf([m1, m2])}${broken}\n","x\n${JSON.stringify(user("m4", "m2", "on"))}\n`,
  );
  expect((await contextOfTranscript(file)).entryIds).toEqual(["m1", "m2", "m4"]);
  const { repaired, changes } = await repairTranscript(file);
  expect(changes.map(({ line, what }) => [line, what])).toEqual([
    [4, "damage_set_aside"],
    [5, "damage_set_aside"],
  ]);
  expect((await piContext(repaired ?? "")).messages).toHaveLength(3);
  const said = { role: "assistant", content: [{ type: "text", text: '{"cmd":"a\n\u0001' }] };
  await using session = await openTranscript(repaired ?? "");
  const { entries } = await session.append({ id: "m5", type: "message", message: said });
  expect(await session.entry(entries[0]?.id ?? "")).toMatchObject({ message: said });
});

test("B033 a file that another process rewrote is noticed at the next append; nothing is acknowledged silently", async () => {
  await using dir = await tempDir();
  await using sessions = await openSessions({ directory: dir.path });
  await using session = await sessions.open("agent:main:main");
  await session.append([
    { id: "m1", type: "message", message: { role: "user", content: "a".repeat(500) } },
    { id: "m2", type: "message", message: { role: "user", content: "b" } },
  ]);
  await writeFile(session.file ?? "", fileOf([user("m1", null, "short")]));
  const late = session.append({ id: "m3", type: "message", message: { role: "user", content: "c" } });
  await expect(late).rejects.toMatchObject({ code: "rewritten" });
  await session.close();
  await using again = await sessions.open("agent:main:main");
  await again.append({ id: "m3", type: "message", message: { role: "user", content: "c" } });
  expect((await contextOfTranscript(again.file ?? "")).entryIds).toEqual(["m1", "m3"]);
});
