/** Answers about trees equal those of a plain model, and huge trees are answered at once. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Entry } from "../../src/entry.ts";
import { settingsIn } from "../../src/projection.ts";
import { memorySource } from "../../src/reading/source.ts";
import { LineIndex } from "../../src/sidecar/line-index.ts";
import {
  ancestorsOf,
  childrenOf,
  commonAncestorOf,
  leavesOf,
  nameIn,
  pageBefore,
  settingsAt,
} from "../../src/sidecar/look.ts";
import { type Outline, outlineOfIndex } from "../../src/sidecar/outline.ts";
import { answer, fileOf, HEADER, make, user } from "../support/make.ts";
import { transcripts } from "../support/trees.ts";

async function outlineOf(text: string): Promise<Outline> {
  const index = LineIndex.empty();
  await index.extend(memorySource(text));
  return outlineOfIndex(index, memorySource(text));
}

const ids = (entries: readonly Entry[]): string[] => entries.map(({ id }) => id);

/** From an entry to its root, slowly. */
function pathOf(entries: readonly Entry[], id: string | null): Entry[] {
  const entry = entries.find((one) => one.id === id);
  return entry === undefined ? [] : [entry, ...pathOf(entries, entry.parentId)];
}

test("children, ancestors, common ancestors, pages, leaves and settings", async () => {
  await fc.assert(
    fc.asyncProperty(
      transcripts,
      fc.nat({ max: 60 }),
      fc.nat({ max: 60 }),
      fc.integer({ min: 1, max: 9 }),
      async (entries, x, y, limit) => {
        fc.pre(entries.length > 0);
        const tree = await outlineOf(fileOf(entries));
        const [a, b] = [x % entries.length, y % entries.length];
        const id = entries[a]?.id ?? "";
        const children = entries.filter(({ parentId }) => parentId === id);
        expect(ids(await childrenOf(tree, a, { after: -1, limit: 99 }))).toEqual(ids(children));
        const some = await childrenOf(tree, -1, { after: b, limit });
        expect(some).toEqual(entries.filter(({ parentId }, node) => parentId === null && node > b).slice(0, limit));
        expect(await ancestorsOf(tree, a, limit)).toEqual(pathOf(entries, id).slice(1, limit + 1));
        const other = new Set(ids(pathOf(entries, entries[b]?.id ?? "")));
        expect(entries[commonAncestorOf(tree, a, b)]?.id).toBe(
          pathOf(entries, id).find((one) => other.has(one.id))?.id,
        );
        expect(await pageBefore(tree, a, limit)).toEqual(entries.slice(Math.max(0, a - limit), a));
        const leaves = entries.filter((one) => !entries.some(({ parentId }) => parentId === one.id));
        const latest = await leavesOf(tree, limit);
        expect(ids(latest.map(({ entry }) => entry))).toEqual(ids(leaves.toReversed().slice(0, limit)));
        expect(latest.map(({ current }) => current)).toEqual(latest.map((_, index) => index === 0));
        expect(await settingsAt(tree, a)).toEqual(settingsIn(pathOf(entries, id).reverse()));
        const named = entries.findLast(({ type }) => type === "session_info") as { name?: string } | undefined;
        expect(await nameIn(tree)).toBe(named?.name?.trim() || null);
      },
    ),
    { seed: 7, numRuns: 200 },
  );
});

test("leaves come by time, not by place", async () => {
  const at = (id: string, time: string) => make("label", id, null, { timestamp: time });
  const tree = await outlineOf(
    fileOf([
      at("old", "2026-01-01T00:00:00.000Z"),
      at("new", "2026-03-01T00:00:00.000Z"),
      at("never", "?"),
      at("mid", "2026-02-01T00:00:00.000Z"),
    ]),
  );
  expect((await leavesOf(tree, 9)).map(({ entry, current }) => [entry.id, current])).toEqual([
    ["new", false],
    ["mid", true],
    ["old", false],
    ["never", false],
  ]);
});

/** npm test uses a part of what HOLDFAST_LARGE=1 uses. */
const LARGE = process.env.HOLDFAST_LARGE === "1";

function lines(count: number, parentOf: (n: number) => string | null): string {
  const out = [JSON.stringify(HEADER)];
  for (let n = 0; n < count; n++) out.push(JSON.stringify(make("label", `e${n}`, parentOf(n))));
  return `${out.join("\n")}\n`;
}

describe("huge trees", () => {
  const siblings = 100_000;
  test(`${siblings} siblings`, async () => {
    const tree = await outlineOf(lines(siblings + 1, (n) => (n === 0 ? null : "e0")));
    expect(ids(await childrenOf(tree, 0, { after: 99_997, limit: 5 }))).toEqual(["e99998", "e99999", "e100000"]);
    expect((await leavesOf(tree, 2)).map(({ entry }) => entry.id)).toEqual(["e100000", "e99999"]);
    expect(commonAncestorOf(tree, 5, 100_000)).toBe(0);
  });

  const length = LARGE ? 1_000_000 : 50_000;
  test(`a path of ${length}`, async () => {
    const tree = await outlineOf(lines(length, (n) => (n === 0 ? null : `e${n - 1}`)));
    expect([tree.size, await tree.leaf()]).toEqual([length, length - 1]);
    expect(commonAncestorOf(tree, length - 1, 0)).toBe(0);
    expect(ids(await ancestorsOf(tree, length - 1, 2))).toEqual([`e${length - 2}`, `e${length - 3}`]);
    expect((await leavesOf(tree, 9)).map(({ entry }) => entry.id)).toEqual([`e${length - 1}`]);
    expect(await settingsAt(tree, length - 1)).toEqual({ model: null, thinkingLevel: null });
  });
});

test("settings are those of the path", async () => {
  const level = (id: string, parentId: string | null, thinkingLevel: string) =>
    make("thinking_level_change", id, parentId, { thinkingLevel });
  const tree = await outlineOf(
    fileOf([level("a", null, "high"), answer("b", "a", "x"), level("c", "b", "low"), user("d", "b", "y")]),
  );
  expect(await settingsAt(tree, 3)).toEqual({ model: { provider: "p", modelId: "m" }, thinkingLevel: "high" });
  expect(await settingsAt(tree, -1)).toEqual({ model: null, thinkingLevel: null });
});
