/**
 * Random files of every version through every way to a context, and through Pi 1.6.0: one answer.
 *
 * What equal means where Pi lacks a notion: a leaf move (`holdfast:leaf`) is to Pi an unknown custom entry that hangs
 * where it moves to, which is all that Pi needs; an edit (`context_edit`) is Pi's own and counts alike. Entries of
 * version 1 have no ids, and Pi makes some up at each opening: messages are compared, not ids.
 */
import { deepStrictEqual } from "node:assert/strict";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "../../src/entry.ts";
import { project } from "../../src/projection.ts";
import { memorySource } from "../../src/reading/source.ts";
import { extendPath, readTail } from "../../src/reading/tail.ts";
import { readWhole } from "../../src/reading/whole.ts";
import { LineIndex } from "../../src/sidecar/line-index.ts";
import { ancestorsOf } from "../../src/sidecar/look.ts";
import { outlineOfIndex, outlineOfWhole } from "../../src/sidecar/outline.ts";
import { contextOfTranscript, treeOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import type { Context } from "../../src/types.ts";
import { damagedFile, damages } from "../support/damage.ts";
import { FEATURES, featuresOf, isPossible, type RandomFile, randomFiles } from "../support/features.ts";
import { tempDir } from "../support/make.ts";
import { piContext } from "../support/pi.ts";
import { transcripts } from "../support/trees.ts";

const isLarge = process.env.HOLDFAST_LARGE === "1";
const TREES = isLarge ? 2000 : 150;
const SEED = 20260107;
/** 50 of 2,000, and of fewer as large a share. */
const LEAST = Math.floor((50 * TREES) / 2000);

const files = fc.sample(randomFiles, { numRuns: TREES, seed: SEED });

test("each feature and each pair of features is there often enough", () => {
  const found = files.map(featuresOf);
  const count = (...names: string[]) => found.filter((one) => names.every((name) => one.has(name))).length;
  const rows = FEATURES.map((one, index) => {
    const pairs = FEATURES.slice(0, index + 1).map((other) =>
      isPossible(one, other) || one === other ? count(one, other) : null,
    );
    return { one, pairs };
  });
  if (isLarge) process.stdout.write(`${drawn(rows)}\n`);
  const rare = rows.flatMap(({ one, pairs }) =>
    pairs.flatMap((many, index) => (many === null || many >= LEAST ? [] : [`${one} + ${FEATURES[index]}: ${many}`])),
  );
  expect(rare).toEqual([]);
  const impossible = FEATURES.flatMap((one) =>
    FEATURES.filter((other) => one !== other && !isPossible(one, other) && count(one, other) > 0),
  );
  expect(impossible).toEqual([]);
});

function drawn(rows: readonly { readonly one: string; readonly pairs: readonly (number | null)[] }[]): string {
  const lines = rows.map(
    ({ one, pairs }) => one.padEnd(20) + pairs.map((many) => `${many ?? "-"}`.padStart(6)).join(""),
  );
  return [`trees with both of two features, of ${TREES} (-: cannot be)`, ...lines].join("\n");
}

test("from the end, whole, by the index, grown and in part: always what Pi sees", { timeout: 600_000 }, async () => {
  await using directory = await tempDir();
  for (const [index, file] of files.entries()) {
    const path = await directory.write("a.jsonl", file.text);
    expect(await verifyTranscript(path), `file ${index}`).toMatchObject({ ok: true, entries: file.entries.length });
    const context = await contextOfTranscript(path);
    deepStrictEqual(seenBy(context), await piContext(path), `file ${index}`);
    await everyWay(file, context, index);
    await atAnotherEntry(file, index, directory.write);
    limited(context, await contextOfTranscript(path, { maxMessages: index % 9 }));
    limited(context, await contextOfTranscript(path, { maxTokens: index % 60 }));
  }
});

function seenBy({ messages, model, thinkingLevel }: Context): unknown {
  return { messages, thinkingLevel, model };
}

async function everyWay(file: RandomFile, expected: Context, index: number): Promise<void> {
  const ways = { whole: await wholeWay(file.text), index: await indexWay(file.text), grown: await grown(file, index) };
  for (const [way, context] of Object.entries(ways)) {
    if (context !== null) deepStrictEqual(seenBy(context), seenBy(expected), `file ${index}: ${way}`);
  }
}

async function wholeWay(text: string): Promise<Context> {
  const entries: Entry[] = [];
  const whole = await readWhole(memorySource(text), (entry) => entries.push(entry));
  const path = whole.tree.pathTo(whole.leaf).map((ref) => entries[whole.tree.nodes.indexOf(ref)]);
  return project(
    path.filter((entry) => entry !== undefined),
    { whole: true },
  );
}

/** By what a sidecar holds. Of old versions none is kept: they are read whole. */
async function indexWay(text: string): Promise<Context> {
  const source = memorySource(text);
  const made = LineIndex.empty();
  await made.extend(source);
  const kept = made.isOdd ? undefined : await LineIndex.restored(made.slots.slice(), source.size, source);
  const outline = kept === undefined ? await outlineOfWhole(source) : outlineOfIndex(kept, source);
  const leaf = await outline.leaf();
  if (leaf === -1) return project([], { whole: true });
  const path = [await outline.read(leaf), ...(await ancestorsOf(outline, leaf, Number.POSITIVE_INFINITY))];
  return project(path.reverse(), { whole: true });
}

/** Opened earlier, then what came since taken in. Null where that has to be read again. */
async function grown({ version, entries, text }: RandomFile, at: number): Promise<Context | null> {
  const lines = text.split("\n");
  if (version !== 3) return null;
  const before = at % (entries.length + 1);
  const earlier = await readTail(memorySource(`${lines.slice(0, before + 1).join("\n")}\n`), { settings: true });
  const now = extendPath(
    earlier,
    entries.slice(before).map((entry) => JSON.parse(JSON.stringify(entry))),
  );
  return now === null ? null : project(now.path, { whole: now.whole, earlier: now.earlier });
}

/** The path to any entry; in version 1 a file that ends there, because Pi knows no ids in it. */
async function atAnotherEntry(
  { version, entries, text }: RandomFile,
  index: number,
  write: (name: string, data: string) => Promise<string>,
): Promise<void> {
  const at = (index * 7919) % entries.length;
  const cut =
    version === 1
      ? `${text
          .split("\n")
          .slice(0, at + 2)
          .join("\n")}\n`
      : text;
  const path = await write("part.jsonl", cut);
  const leaf = version === 1 ? undefined : entries[at]?.id;
  const ours = await contextOfTranscript(path, leaf === undefined ? {} : { leaf });
  deepStrictEqual(seenBy(ours), await piContext(path, leaf), `file ${index} at entry ${at}`);
}

/** A part is the whole without what the report says was left out. */
function limited(whole: Context, part: Context): void {
  const left = new Set(part.report.leftOut.map(({ id }) => id));
  const kept = whole.messages.filter((_, index) => !left.has(whole.entryIds[index] ?? ""));
  deepStrictEqual(part.messages, kept);
}

/**
 * Damaged files. What `verify` finds ok is equal to Pi here as well. What it does not, by the first thing it says:
 * - damaged: lines that are no entries, entries without an id, a return line that a crash cut;
 * - gaps: a parent that is nowhere above (bridged to the entry before), a compaction whose kept entry is not above it
 *   (everything since the compaction before is kept);
 * - duplicates: an id that comes twice;
 * - stale: lines of a writer that had lost the file. These are counted and not compared.
 *
 * One class is found ok and is not equal until the next append: a fence at the end that hangs elsewhere than on the
 * leaf, as when Pi, which takes no lock, appended just before it. A fence is no leaf to us, and is one to Pi.
 */
test("of damaged files those that are found ok are equal too", { timeout: 600_000 }, async () => {
  await using directory = await tempDir();
  const found = { ok: 0, fenced: 0, damaged: 0, gaps: 0, duplicates: 0, stale: 0, header: 0 };
  const cases = fc.sample(fc.tuple(transcripts, damages, fc.constantFrom("\n" as const, "" as const)), {
    numRuns: TREES,
    seed: SEED,
  });
  for (const [index, [entries, wounds, end]] of cases.entries()) {
    const path = await directory.write("a.jsonl", damagedFile(entries, wounds, end));
    const report = await verifyTranscript(path);
    const sound = report.ok && (await endsInAstrayFence(path, report.leaf)) ? "fenced" : "ok";
    const why = report.ok
      ? sound
      : ((["damaged", "gaps", "duplicates", "stale"] as const).find((kind) => report[kind].length > 0) ?? "header");
    found[why] += 1;
    if (why === "ok") deepStrictEqual(seenBy(await contextOfTranscript(path)), await piContext(path), `file ${index}`);
  }
  if (isLarge) process.stdout.write(`damaged files by what is found first: ${JSON.stringify(found)}\n`);
  expect(Math.min(found.ok, found.damaged, found.gaps)).toBeGreaterThan(0);
});

async function endsInAstrayFence(path: string, leaf: string | null): Promise<boolean> {
  const last = (await treeOfTranscript(path)).nodes.at(-1);
  return last !== undefined && last.type === "custom" && last.id.startsWith("f") && last.parentId !== leaf;
}
