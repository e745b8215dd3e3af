/** Bare files: what damage is reported and what survives it, open calls, the tree, and clear refusals. */
import { chmod, mkdir, readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { contextOfTranscript, treeOfTranscript, verifyTranscript } from "../src/transcript.ts";
import { answer, call, compaction, custom, fileOf, HEADER, make, result, tempDir, user } from "./support/make.ts";

const base = [user("m1", null, "a"), answer("m2", "m1", "b")];
const lines = (...all: readonly (string | object)[]): string =>
  all.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");

async function look(data: string | Uint8Array) {
  await using directory = await tempDir();
  const path = await directory.write("a.jsonl", data);
  const report = await verifyTranscript(path);
  const { entryIds, report: context } = await contextOfTranscript(path);
  const bytes = await readFile(path);
  expect(bytes.equals(Buffer.from(data))).toBe(true);
  return { report, entryIds, notes: context.notes };
}

describe("damage: what is reported, what the context keeps", () => {
  const more = answer("m3", "m2", "c");
  test.each<[string, string | Buffer, readonly string[], readonly string[]]>([
    ["a torn last line", `${fileOf(base)}{"type":"message","id":"m3"`, ["not JSON"], ["m1", "m2"]],
    ["a torn line, glued to the next", `${fileOf(base)}{"type":"mess${lines(more)}`, ["not JSON"], ["m1", "m2"]],
    ["a torn line between", lines(HEADER, ...base, `{"type":"mess`, more), ["not JSON"], ["m1", "m2", "m3"]],
    ["a run of NULs", lines(HEADER, ...base, "\0\0\0\0", more), ["NUL bytes"], ["m1", "m2", "m3"]],
    [
      "NULs before a line",
      lines(HEADER, ...base, `\0\0${JSON.stringify(more)}`),
      ["NUL bytes around the entry"],
      ["m1", "m2", "m3"],
    ],
    ["a byte order mark", `\uFEFF${fileOf(base)}`, ["byte order mark"], ["m1", "m2"]],
    [
      "not an object",
      lines(HEADER, ...base, "[1]", "5", "null"),
      ["not an object", "not an object", "not an object"],
      ["m1", "m2"],
    ],
    ["no type", lines(HEADER, ...base, { id: "x" }), ["no type"], ["m1", "m2"]],
    [
      "a message without a role",
      lines(HEADER, ...base, make("message", "x", "m2"), answer("m3", "x", "c")),
      ["message without a role"],
      ["m1", "m2", "m3"],
    ],
    [
      "another header",
      lines(HEADER, ...base, HEADER, more),
      ["a header that is not the first line"],
      ["m1", "m2", "m3"],
    ],
    [
      "an edit without replacement",
      lines(HEADER, ...base, make("context_edit", "x", "m2", { targetId: "m1" })),
      ["context_edit without replacement"],
      ["m1", "m2"],
    ],
    [
      "invalid UTF-8",
      Buffer.concat([
        Buffer.from(fileOf(base)),
        Buffer.from(JSON.stringify(user("m3", "m2", "?"))).map((byte) => (byte === 0x3f ? 0xff : byte)),
        Buffer.from("\n"),
      ]),
      ["invalid UTF-8"],
      ["m1", "m2", "m3"],
    ],
  ])("%s", async (_, data, why, context) => {
    const { report, entryIds } = await look(data);
    expect(report.ok).toBe(false);
    expect(report.damaged.map((one) => one.why)).toEqual(why);
    expect(entryIds).toEqual(context);
  });

  test("where it is", async () => {
    const { report } = await look(lines(HEADER, ...base, "broken", answer("m3", "m2", "c")));
    const offset = fileOf(base).length;
    expect(report.damaged).toEqual([{ line: 4, offset, bytes: 6, why: "not JSON" }]);
  });

  test.each<[string, string, string, readonly string[]]>([
    ["a damaged header", lines(`{"type":"sess`, ...base), "damaged", ["m1", "m2"]],
    ["no header", lines(...base), "missing", ["m1", "m2"]],
    ["a header without an id", lines({ type: "session", version: 3 }, ...base), "damaged", ["m1", "m2"]],
    [
      "a header after a label",
      lines(make("label", "l", null, { targetId: "m1", label: "x" }), HEADER, ...base),
      "missing",
      ["m1", "m2"],
    ],
  ])("%s does not make the file empty", async (_, data, state, context) => {
    const { report, entryIds } = await look(data);
    expect(report).toMatchObject({ ok: false, header: { state } });
    expect(entryIds).toEqual(context);
  });

  test("gaps are bridged and named", async () => {
    const { report, entryIds } = await look(fileOf([...base, user("m4", "lost", "c"), answer("m5", "m4", "d")]));
    expect(report).toMatchObject({ ok: false, gaps: [{ id: "m4", parentId: "lost", bridgedTo: "m2" }] });
    expect(entryIds).toEqual(["m1", "m2", "m4", "m5"]);
  });

  test("a compaction whose kept entry is elsewhere keeps everything since the one before", async () => {
    const entries = [
      ...base,
      compaction("k1", "m2", "m2"),
      user("m3", "k1", "c"),
      compaction("k2", "m3", "lost"),
      user("m4", "k2", "d"),
    ];
    const { report, entryIds, notes } = await look(fileOf(entries));
    expect(report.gaps).toMatchObject([{ id: "k2", parentId: "lost", bridgedTo: "k1", line: expect.any(Number) }]);
    expect(entryIds).toEqual(["k2", "m3", "m4"]);
    expect(notes).toEqual([expect.stringContaining("k2")]);
  });

  test("a compaction that keeps an entry of another branch", async () => {
    const { report, entryIds } = await look(fileOf([...base, user("x", "m1", "x"), compaction("k", "m2", "x")]));
    expect(report.gaps).toMatchObject([{ id: "k", parentId: "x", bridgedTo: null }]);
    expect(entryIds).toEqual(["k", "m1", "m2"]);
  });

  test("repeated ids: the same is ignored, another is kept", async () => {
    const again = { ...answer("m2", "m1", "b"), timestamp: "2027-01-01T00:00:00.000Z", g: 7 };
    const same = await look(fileOf([...base, again]));
    expect(same.report).toMatchObject({
      ok: false,
      entries: 2,
      leaf: "m2",
      duplicates: [{ id: "m2", identical: true }],
    });
    const other = await look(fileOf([...base, answer("m2", "m1", "other"), user("m3", "m2", "c")]));
    expect(other.report).toMatchObject({ ok: false, entries: 4, duplicates: [{ id: "m2", identical: false }] });
    expect(other.entryIds).toEqual(["m1", "m2", "m3"]);
  });

  test("stale lines are named and not followed", async () => {
    const fence = custom("f", "m2", "holdfast:fence", { g: 2 }, { g: 2 });
    const { report, entryIds } = await look(fileOf([...base, fence, answer("s", "m2", "late", { g: 1 })]));
    expect(report).toMatchObject({ ok: false, leaf: "m2", stale: [{ id: "s", g: 1 }] });
    expect(entryIds).toEqual(["m1", "m2"]);
  });

  test("a late entry whose way back is missing", async () => {
    const { report } = await look(fileOf([...base, user("l", "m1", "late", { returnTo: "m2" })]));
    expect(report).toMatchObject({ ok: false, leaf: "m2", damaged: [{ line: 4, why: expect.stringContaining("m2") }] });
  });

  test("cut at every byte of its last three lines: everything before is kept", async () => {
    await using directory = await tempDir();
    const head = fileOf(base);
    const tail = ["m3", "m4", "m5"].map((id, index) => lines(answer(id, `m${index + 2}`, "刚才🚀")));
    const data = Buffer.from(head + tail.join(""));
    for (let length = Buffer.byteLength(head); length <= data.length; length++) {
      const path = await directory.write("a.jsonl", data.subarray(0, length));
      const ends = tail.map((_, index) => Buffer.byteLength(head + tail.slice(0, index + 1).join("")));
      // A line that lacks nothing but its line end is whole.
      const whole = ends.filter((end) => length >= end - 1).length;
      const { entryIds } = await contextOfTranscript(path);
      expect(entryIds).toEqual(["m1", "m2", "m3", "m4", "m5"].slice(0, 2 + whole));
      const report = await verifyTranscript(path);
      const isTorn = length > Buffer.byteLength(head) && !ends.some((end) => end === length || end - 1 === length);
      const isBetween = [Buffer.byteLength(head), ...ends].includes(length);
      expect(report.damaged.length).toBe(isTorn && !isBetween ? 1 : 0);
    }
  });
});

describe("open calls", () => {
  test("those without a result anywhere; results that name their call come first", async () => {
    const entries = [
      user("u", null, "x"),
      call("c1", "u", ["t", "t2"]),
      call("c2", "u", ["t"]),
      result("r1", "c2", "t"),
      result("r2", "r1", "t2", { call: { entryId: "c1", ordinal: 1 } }),
      result("r3", "r2", "nobody"),
    ];
    const { report } = await look(fileOf(entries));
    expect(report.ok).toBe(true);
    expect(report.openCalls).toEqual([{ entryId: "c1", ordinal: 0, toolCallId: "t", name: "read" }]);
  });
});

describe("the tree", () => {
  test("in file order, with the current path, labels and excerpts", async () => {
    await using directory = await tempDir();
    const entries = [
      ...base,
      user("m3", "m1", `  two\nlines ${"x".repeat(300)}`),
      make("label", "l1", "m3", { targetId: "m1", label: "start" }),
      make("label", "l2", "l1", { targetId: "m2", label: "gone" }),
      make("label", "l3", "l2", { targetId: "m2" }),
    ];
    const { leaf, nodes } = await treeOfTranscript(await directory.write("a.jsonl", fileOf(entries)));
    expect(leaf).toBe("l3");
    expect(nodes.map((node) => [node.id, node.parentId, node.current, node.label])).toEqual([
      ["m1", null, true, "start"],
      ["m2", "m1", false, null],
      ["m3", "m1", true, null],
      ["l1", "m3", true, null],
      ["l2", "l1", true, null],
      ["l3", "l2", true, null],
    ]);
    expect(nodes[0]).toMatchObject({ type: "message", role: "user", text: "a" });
    expect(nodes[2]?.text).toBe(`two lines ${"x".repeat(109)}…`);
    expect(nodes[3]).toMatchObject({ type: "label", role: null });
  });
});

describe("refusals", () => {
  const all = [verifyTranscript, contextOfTranscript, treeOfTranscript];

  test.each(all.map((run) => [run.name, run] as const))("%s: not there, a directory, no transcript", async (_, run) => {
    await using directory = await tempDir();
    await mkdir(join(directory.path, "d.jsonl"));
    await expect(run(join(directory.path, "d.jsonl"))).rejects.toMatchObject({ code: "not_a_file" });
    await expect(run(join(directory.path, "none.jsonl"))).rejects.toMatchObject({ code: "file_missing" });
    await expect(run(await directory.write("empty", ""))).rejects.toMatchObject({ code: "not_a_transcript" });
    await expect(run(await directory.write("text", "hello\nworld\n"))).rejects.toMatchObject({
      code: "not_a_transcript",
      details: { lines: 2 },
    });
    const file = await directory.write("file", "x");
    await expect(run(join(file, "below"))).rejects.toMatchObject({ code: "file_missing" });
    await symlink("loop", join(directory.path, "loop"));
    await expect(run(join(directory.path, "loop"))).rejects.toMatchObject({
      code: "read_failed",
      details: { errno: "ELOOP" },
    });
  });

  test("a leaf that is not there", async () => {
    await using directory = await tempDir();
    const path = await directory.write("a.jsonl", fileOf(base));
    await expect(contextOfTranscript(path, { leaf: "x" })).rejects.toMatchObject({ code: "entry_missing" });
  });

  test.skipIf(process.getuid?.() === 0)("a file that may not be read", async () => {
    await using directory = await tempDir();
    const path = await directory.write("a.jsonl", fileOf(base));
    await chmod(path, 0);
    await expect(verifyTranscript(path)).rejects.toMatchObject({ code: "read_failed", details: { errno: "EACCES" } });
  });
});
