/** Looking back for what a branch was given. */
import { expect, test } from "vitest";
import {
  INJECTED,
  isOwnMemory,
  lookBack,
  markerEntry,
  markerOf,
  writtenSince,
} from "../../../src/context/bootstrap/marker.ts";
import { answer, chain, custom, user } from "../../support/log.ts";

type Line = Record<string, unknown> & { readonly id: string };
const marker = (id: string, hash: string) => custom(id, INJECTED, { hash, form: "f", files: {} });
const back = (...entries: readonly Line[]) => chain(...entries).toReversed();

test("the newest one, told apart by whether this turn wrote it", () => {
  const later = back(user("u1"), marker("m1", "h1"), answer("a1"), user("u2"), marker("m2", "h2"), answer("a2"));
  expect(lookBack(later, "a1")).toMatchObject({ own: { hash: "h2" }, earlier: { hash: "h1" } });
  expect(lookBack(later, "a2")).toMatchObject({ own: null, earlier: { hash: "h2" } });
  expect(lookBack([], null)).toEqual({ own: null, earlier: null });
});

test("a compaction ends the look, even where it keeps the entry", () => {
  const compaction = { type: "compaction", id: "c", summary: "s", firstKeptEntryId: "m1", tokensBefore: 1 };
  const log = back(user("u1"), marker("m1", "h1"), answer("a1"), compaction, user("u2"));
  expect(lookBack(log, "u2").earlier).toBeNull();
});

test("500 records or 256 KiB are looked through, no more", () => {
  const many = (count: number, text = "x") => Array.from({ length: count }, (_, at) => user(`u${at}`, undefined, text));
  expect(lookBack(back(marker("m", "h"), ...many(499)), "u498").earlier).toMatchObject({ hash: "h" });
  expect(lookBack(back(marker("m", "h"), ...many(500)), "u499").earlier).toBeNull();
  const kib = "é".repeat(512);
  expect(lookBack(back(marker("m", "h"), ...many(200, kib)), "u199").earlier).toMatchObject({ hash: "h" });
  expect(lookBack(back(marker("m", "h"), ...many(260, kib)), "u259").earlier).toBeNull();
});

test("entries of this kind by other programs, and odd ones, name nothing that is ours", () => {
  const log = back(custom("m", INJECTED, { timestamp: 1, runId: "r" }), user("u"));
  expect(lookBack(log, "u").earlier).toEqual({ hash: "", form: "", files: {} });
  expect(lookBack(back(custom("m", INJECTED, "odd"), user("u")), "u").earlier).toEqual({
    hash: "",
    form: "",
    files: {},
  });
});

const intent = (id: string, planned: unknown) => custom(id, "holdfast:intent", { evidence: { planned } });

test("what calls wrote counts from when the bootstrap was first given", () => {
  const log = back(
    intent("i0", "w0"),
    marker("m0", "other"),
    intent("i1", "w1"),
    marker("m1", "h"),
    intent("i2", "w2"),
    marker("m2", "h"),
    intent("i3", 7),
    intent("i4", "w4"),
  );
  expect([...writtenSince(log, "h")].sort()).toEqual(["w1", "w2", "w4"]);
});

const bootstrapOf = (files: Readonly<Record<string, string>>) => ({
  hash: JSON.stringify(files),
  sections: [],
  files: Object.entries(files).map(([name, sha256]) => ({ name, sha256, bytes: 1, chars: 1, cut: null })),
});

test("memory that the conversation wrote itself is no change; everything else is", () => {
  const before = markerOf(bootstrapOf({ "AGENTS.md": "a", "MEMORY.md": "m" }), "f");
  const own = (files: Readonly<Record<string, string>>, written: readonly string[], form = "f") =>
    isOwnMemory(before, bootstrapOf(files), form, () => new Set(written));
  expect(own({ "AGENTS.md": "a", "MEMORY.md": "m2" }, ["m2"])).toBe(true);
  expect(own({ "AGENTS.md": "a", "MEMORY.md": "m", "memory/2026-12-01.md": "n" }, ["n"])).toBe(true);
  expect(own({ "AGENTS.md": "a", "MEMORY.md": "m2" }, ["m1"])).toBe(false);
  expect(own({ "AGENTS.md": "a2", "MEMORY.md": "m" }, ["a2"])).toBe(false);
  expect(own({ "AGENTS.md": "a" }, ["m"])).toBe(false);
  expect(own({ "AGENTS.md": "a", "MEMORY.md": "m2" }, ["m2"], "other limits")).toBe(false);
  expect(own({ "AGENTS.md": "a", "MEMORY.md": "m" }, [])).toBe(false);
});

test("the entry is small, whatever the files are", () => {
  const made = markerEntry(markerOf(bootstrapOf({ "AGENTS.md": "0123456789abcdef0123" }), "main 1 2"));
  expect(made).toEqual({
    type: "custom",
    customType: "openclaw:bootstrap-context:full",
    data: { hash: expect.any(String), form: "main 1 2", files: { "AGENTS.md": "0123456789abcdef" } },
  });
});
