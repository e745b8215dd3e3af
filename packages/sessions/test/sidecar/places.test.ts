/** Whatever was kept beside a log, the answers are those of the log. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { memorySource } from "../../src/reading/source.ts";
import { readTail } from "../../src/reading/tail.ts";
import { leavesOf, pageBefore } from "../../src/sidecar/look.ts";
import { LineIndex } from "../../src/sidecar/line-index.ts";
import { type Outline, outlineOfWhole } from "../../src/sidecar/outline.ts";
import { Places } from "../../src/sidecar/places.ts";
import type { Position, Reading, Since } from "../../src/store.ts";
import { damagedFile, damages } from "../support/damage.ts";
import { fileOf, make, user } from "../support/make.ts";
import { transcripts } from "../support/trees.ts";

/** A log in memory with something kept beside it; `reads` counts the bytes that were read of it. */
function logOf(text: string, kept?: Uint32Array) {
  const log = { bytes: Buffer.from(text), kept, since: "grown" as Since, reads: 0, asked: 0 };
  const open = async (): Promise<Reading> => {
    log.asked += 1;
    const source = memorySource(log.bytes);
    return {
      position: String(log.bytes.length) as Position,
      since: log.since,
      source: {
        size: source.size,
        read: async (offset, length) => {
          log.reads += length;
          return source.read(offset, length);
        },
      },
      sidecar: {
        load: async () => log.kept,
        keep: async (slots) => {
          log.kept = slots.slice();
        },
      },
      [Symbol.asyncDispose]: async () => {},
    };
  };
  return { log, places: new Places(open) };
}

/** Everything that can be asked, by content. */
async function answers(tree: Outline): Promise<unknown> {
  const all = await pageBefore(tree, tree.size, 1000);
  const parents = all.map(async ({ id }) => {
    const parent = tree.parentOf(await tree.find(id));
    return parent === -1 ? null : (await tree.read(parent)).id;
  });
  const leaf = await tree.leaf();
  return {
    all,
    parents: await Promise.all(parents),
    leaves: await leavesOf(tree, 1000),
    leaf: leaf === -1 ? null : (await tree.read(leaf)).id,
  };
}

async function slotsOf(text: string): Promise<Uint32Array> {
  const index = LineIndex.empty();
  await index.extend(memorySource(text));
  return index.slots.slice();
}

describe("answers equal those of the whole file", () => {
  test("of sound and damaged files, torn lines among them", async () => {
    await fc.assert(
      fc.asyncProperty(transcripts, damages, fc.constantFrom("\n" as const, "" as const), async (entries, all, end) => {
        const text = damagedFile(entries, all, end);
        const { places } = logOf(text);
        expect(await places.run(answers)).toEqual(await answers(await outlineOfWhole(memorySource(text))));
      }),
      { seed: 8, numRuns: 400 },
    );
  });

  test("with slots of another file, or of an earlier or later state, kept beside it", async () => {
    await fc.assert(
      fc.asyncProperty(transcripts, transcripts, fc.boolean(), fc.nat(), async (entries, others, isOther, cut) => {
        const text = fileOf(entries);
        const kept = isOther ? fileOf(others) : fileOf([...entries, ...others].slice(0, cut % 80));
        const { places } = logOf(text, await slotsOf(kept));
        const { all } = (await places.run(answers)) as { all: unknown[] };
        // What is given out is what the file says there, whoever said where to look.
        for (const entry of all) expect(entries).toContainEqual(entry);
      }),
      { seed: 9, numRuns: 200 },
    );
  });
});

test("what was kept spares reading the log, and is kept again when it was wrong", async () => {
  const text = fileOf(
    Array.from({ length: 2000 }, (_, n) => user(`e${n}`, n === 0 ? null : `e${n - 1}`, "x".repeat(200))),
  );
  const first = logOf(text);
  await first.places.run((tree) => tree.find("e5"));
  expect(first.log.reads).toBeGreaterThan(Buffer.byteLength(text));
  const second = logOf(text, first.log.kept);
  expect(await second.places.run((tree) => tree.find("e5"))).toBe(5);
  expect(second.log.reads).toBeLessThan(2000);
  const shifted = first.log.kept?.map((word, at) => (at % 10 === 4 ? word + 7 : word));
  const third = logOf(text, shifted);
  expect(await third.places.run((tree) => tree.find("e5"))).toBe(5);
  expect(third.log.kept).toEqual(first.log.kept);
});

test("a log that grew is read on; one that was changed, from the beginning", async () => {
  const lines = Array.from({ length: 500 }, (_, n) => user(`e${n}`, n === 0 ? null : `e${n - 1}`, "x".repeat(99)));
  const { log, places } = logOf(fileOf(lines.slice(0, 499)));
  expect(await places.run(async (tree) => tree.size)).toBe(499);
  log.bytes = Buffer.from(fileOf(lines));
  log.reads = 0;
  expect(await places.run(async (tree) => [tree.size, await tree.find("e499")])).toEqual([500, 499]);
  expect(log.reads).toBeLessThan(1000);
  log.bytes = Buffer.from(fileOf(lines.slice(10, 12)));
  log.since = "rewritten";
  log.kept = await slotsOf(fileOf(lines));
  expect(await places.run(async (tree) => tree.size)).toBe(2);
  expect(await places.run(async (tree) => [tree.size, await tree.find("e11"), await tree.find("e1")])).toEqual([
    2, 1, -1,
  ]);
});

test("a question that fails leaves the next one unharmed", async () => {
  const { places } = logOf(fileOf([user("a", null, "x")]));
  const failed = places.run(async () => Promise.reject(new Error("no")));
  const next = places.run((tree) => tree.find("a"));
  await expect(failed).rejects.toThrow("no");
  expect(await next).toBe(0);
});

describe("the way over other branches", () => {
  const far = "x".repeat(1000);
  const branch = (length: number) => [
    user("root", null, "r"),
    user("mine", "root", "m"),
    ...Array.from({ length }, (_, n) => make("label", `o${n}`, n === 0 ? "root" : `o${n - 1}`, { far })),
    user("leaf", "mine", "l"),
  ];

  test("is jumped where an index was kept, and read where not, with the same result", async () => {
    const text = fileOf(branch(3000));
    const read = async (kept?: Uint32Array) => {
      const { log, places } = logOf(text, kept);
      const bytes = { read: 0 };
      const source = memorySource(text);
      const counting = {
        size: source.size,
        read: (offset: number, length: number) => {
          bytes.read += length;
          return source.read(offset, length);
        },
      };
      const loaded = await readTail(counting, { jump: (id, before) => places.endOf(id, before) });
      return { path: loaded.path.map(({ id }) => id), whole: loaded.whole, bytes: bytes.read, asked: log.asked };
    };
    const walked = await read();
    expect(walked).toMatchObject({ path: ["root", "mine", "leaf"], whole: true, asked: 1 });
    expect(walked.bytes).toBeGreaterThan(text.length);
    const jumped = await read(await slotsOf(text));
    expect(jumped).toMatchObject({ path: walked.path, whole: true });
    expect(jumped.bytes).toBeLessThan(text.length / 2);
    const misled = await read((await slotsOf(text)).map((word, at) => (at % 10 === 4 ? word + 1 : word)));
    expect(misled).toMatchObject({ path: walked.path, whole: true });
  });

  test.each([1, 1000, 100_000, 10 ** 9])("a hint to look at byte %i is not followed blindly", async (target) => {
    const loaded = await readTail(memorySource(fileOf(branch(3000))), { jump: async () => target });
    expect(loaded.path.map(({ id }) => id)).toEqual(["root", "mine", "leaf"]);
    expect(loaded.report.damaged).toEqual([]);
  });
});

test("an odd log is read whole once, until it is another one", async () => {
  const fence = (g: number, parent: string) =>
    make("custom", `f${g}`, parent, { customType: "holdfast:fence", data: { g } });
  const lines = Array.from({ length: 200 }, (_, n) => user(`e${n}`, n === 0 ? null : `e${n - 1}`, "x".repeat(99)));
  const { log, places } = logOf(fileOf([...lines, fence(2, "e199")]));
  log.since = "none";
  const readsOf = async (id: string): Promise<readonly [number, number]> => {
    const before = log.reads;
    const node = await places.run(async (tree) => {
      const found = await tree.find(id);
      if (found !== -1) expect((await tree.read(found)).id).toBe(id);
      return found;
    });
    return [node, log.reads - before];
  };
  const [node, all] = await readsOf("e7");
  expect([node, all > log.bytes.length]).toEqual([7, true]);
  for (const id of ["e8", "e199", "f2"]) expect((await readsOf(id))[1], id).toBeLessThan(1000);
  log.bytes = Buffer.concat([log.bytes, Buffer.from(`${JSON.stringify(user("new", "e199", "n"))}\n`)]);
  log.since = "grown";
  expect((await readsOf("new"))[0]).toBe(201);
  log.bytes = Buffer.from(fileOf([...lines.slice(0, 50), fence(2, "e49"), user("other", "e49", "n")]));
  log.since = "rewritten";
  expect((await readsOf("other"))[0]).toBe(51);
  expect((await readsOf("e60"))[0]).toBe(-1);
});
