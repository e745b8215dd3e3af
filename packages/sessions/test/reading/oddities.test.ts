/**
 * Anything that may be odd about a transcript, alone and in pairs, through every way of reading: all say what a plain
 * model says, everything odd is counted with its place, nothing is changed by looking, and repair explains all of it.
 */
import { appendFile, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSessions, openTranscript } from "@holdfast/sessions";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { repairTranscript } from "../../src/keeping/repair.ts";
import { project } from "../../src/projection.ts";
import { memorySource } from "../../src/reading/source.ts";
import { readTail } from "../../src/reading/tail.ts";
import { readWhole } from "../../src/reading/whole.ts";
import { contextOfTranscript, treeOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import type { OpenReport } from "../../src/types.ts";
import { tempDir } from "../support/make.ts";
import { type Model, modelOf } from "../support/odd-model.ts";
import { bytesOf, ODDITIES, type OddFile, soundFile } from "../support/oddities.ts";

/** Pairs in both orders, and more of the rest: about two minutes. */
const LARGE = process.env.HOLDFAST_LARGE === "1";
const NAMES = Object.keys(ODDITIES);
const KEY = "agent:main:odd";
const USER = { type: "message", message: { role: "user", content: "and on" } };

function oddFile(...odd: readonly (readonly [name: string, at: number])[]): OddFile {
  const file = soundFile();
  for (const [name, at] of odd) ODDITIES[name]?.(file, at);
  return file;
}

/** The findings of a report as the model has them. */
function findingsOf(report: Pick<OpenReport, "damaged" | "gaps" | "duplicates" | "noted">) {
  return {
    damaged: report.damaged.map(({ line, offset, bytes }) => ({ line, offset, bytes })),
    gaps: report.gaps.map(({ id, line, offset }) => ({ id, line, offset })),
    duplicates: report.duplicates.map(({ id, identical, line, offset }) => ({ id, identical, line, offset })),
    noted: Object.fromEntries(
      report.noted.map(({ what, lines, line, offset }) => [what, { lines, line, offset }] as const),
    ),
  };
}
const findingsIn = ({ damaged, gaps, duplicates, noted }: Model) => ({ damaged, gaps, duplicates, noted });

async function inMemory(file: OddFile): Promise<void> {
  const model = modelOf(file);
  const source = memorySource(bytesOf(file));
  const whole = await readWhole(source);
  expect(findingsOf(whole.report)).toEqual(findingsIn(model));
  expect(whole.report.header).toBe(model.header);
  expect(whole.tree.nodes.map(({ id }) => id)).toEqual(model.entries);
  expect(whole.tree.nodes[whole.leaf]?.id ?? null).toBe(model.leaf);
  const path = await Promise.all(whole.tree.pathTo(whole.leaf).map((ref) => whole.read(ref)));
  const fromStart = project(path, { whole: true });
  expect(fromStart.entryIds).toEqual(model.context);
  const tail = await readTail(source, { settings: true });
  expect(project(tail.path, tail).messages).toEqual(fromStart.messages);
  expect(tail.path.at(-1)?.id ?? null).toBe(model.leaf);
  if (tail.report.partial) return fewer(tail.report, model);
  const { damaged, noted } = findingsOf(tail.report);
  const places = (found: { damaged: readonly { offset: number }[]; noted: Model["noted"] }) => [
    found.damaged.map(({ offset }) => offset).toSorted((a, b) => a - b),
    Object.entries(found.noted)
      .map(([what, { lines, offset }]) => [what, lines, offset])
      .toSorted(),
  ];
  expect(places({ damaged, noted: noted as Model["noted"] })).toEqual(places(model));
}

/** Of a file that was read in part nothing is reported that is not there. */
function fewer(report: OpenReport, model: Model): void {
  const there = new Set(model.damaged.map(({ offset }) => offset));
  expect(report.damaged.filter(({ offset }) => !there.has(offset))).toEqual([]);
  for (const { what, lines } of report.noted) expect(lines).toBeLessThanOrEqual(model.noted[what]?.lines ?? 0);
}

async function onDisk(file: OddFile): Promise<void> {
  await using dir = await tempDir();
  const model = modelOf(file);
  const bytes = bytesOf(file);
  const path = await dir.write("s-1.jsonl", bytes);
  const isTouched = await untouched(path);
  const verified = await verifyTranscript(path);
  expect(findingsOf(verified)).toEqual({ ...findingsIn(model), gaps: [...model.gaps, ...model.lost] });
  const { entryIds, messages } = await contextOfTranscript(path);
  expect(entryIds).toEqual(model.context);
  expect((await treeOfTranscript(path)).nodes.map(({ id }) => id)).toEqual(model.entries);
  await isTouched();
  await repaired(path, model, messages);
  await isTouched();
  if (verified.header.version === 3) await writtenOn(path, bytes, model);
  else await expect(openTranscript(path).then((session) => session.append(USER))).rejects.toThrow("which is only read");
}

async function untouched(path: string): Promise<() => Promise<void>> {
  const before = { bytes: await readFile(path), times: await stat(path, { bigint: true }) };
  return async () => {
    const { mtimeNs, ctimeNs, ino } = await stat(path, { bigint: true });
    expect([mtimeNs, ctimeNs, ino]).toEqual([before.times.mtimeNs, before.times.ctimeNs, before.times.ino]);
    expect((await readFile(path)).equals(before.bytes)).toBe(true);
  };
}

async function repaired(path: string, model: Model, messages: readonly unknown[]): Promise<void> {
  const report = await repairTranscript(path);
  const places = new Set(report.changes.map(({ offset }) => offset));
  const odd = [...model.damaged, ...model.gaps, ...model.lost, ...model.duplicates];
  expect(odd.filter(({ offset }) => !places.has(offset))).toEqual([]);
  for (const { why } of report.changes) expect(why.length).toBeGreaterThan(3);
  const file = report.repaired ?? path;
  expect(await verifyTranscript(file)).toMatchObject({ ok: true });
  expect((await contextOfTranscript(file)).messages).toEqual(messages);
}

/** The next entry is not swallowed, and what was there before stays as it was. */
async function writtenOn(path: string, bytes: Buffer, model: Model): Promise<void> {
  await using session = await openTranscript(path);
  expect((await session.context()).entryIds).toEqual(model.context);
  const { entries } = await session.append(USER);
  expect((await readFile(path)).subarray(0, bytes.length).equals(bytes)).toBe(true);
  const { entryIds } = await contextOfTranscript(path);
  expect(entryIds).toEqual([...model.context, entries[0]?.id]);
}

/** As a conversation of a store: its sidecar, its tree in pages, its entries one after the other. */
async function inStore(file: OddFile): Promise<void> {
  await using dir = await tempDir();
  const model = modelOf(file);
  const directory = join(dir.path, "sessions");
  await mkdir(directory);
  const path = join(directory, "s-1.jsonl");
  await writeFile(path, bytesOf(file));
  const row = { sessionId: "s-1", sessionFile: "s-1.jsonl", updatedAt: 1 };
  await writeFile(join(directory, "sessions.json"), JSON.stringify({ [KEY]: row }));
  const isTouched = await untouched(path);
  await using sessions = await openSessions({ directory });
  for (const round of ["without a sidecar", "with it"]) {
    await using session = await sessions.open(KEY);
    expect([round, (await session.context()).entryIds]).toEqual([round, model.context]);
    const page = await session.tree.page({ limit: 1000 });
    expect([round, page.map(({ id }) => id)]).toEqual([round, model.entries]);
    expect(await idsOf(session.oldestFirst())).toEqual(passing(model.lines));
    expect(await idsOf(session.newestFirst())).toEqual(passing(model.lines.toReversed()));
    const [first, ...rest] = model.lines;
    if (rest.some(({ id }) => id === first?.id)) continue;
    expect((await session.since(first?.id ?? null)).map(({ id }) => id)).toEqual(passing(rest));
  }
  await isTouched();
}

async function idsOf(entries: AsyncIterable<{ readonly id: string }>): Promise<string[]> {
  return (await Array.fromAsync(entries)).map(({ id }) => id);
}

/** Line after line: what is there twice comes twice, until the first without a name makes it read the whole file. */
function passing(lines: Model["lines"]): string[] {
  const unnamed = lines.findIndex(({ isNamed }) => !isNamed);
  return lines.filter(({ isRepeated }, at) => !isRepeated || unnamed === -1 || at < unnamed).map(({ id }) => id);
}

describe.each(NAMES)("%s", (name) => {
  test("read whole and backwards, wherever it is", async () => {
    for (let at = 0; at < 20; at++) await inMemory(oddFile([name, at]));
  });

  test.each([0, 13])("on disk (%i): verified, repaired, written on", async (at) => {
    await onDisk(oddFile([name, at]));
  });

  test("as a conversation of a store", async () => {
    await inStore(oddFile([name, 10]));
  });
});

test("any two of them together, read whole and backwards", async () => {
  for (const [first, one] of NAMES.entries()) {
    for (const [second, other] of NAMES.entries()) {
      if (second < first && !LARGE) continue;
      const file = oddFile([one, first * 7 + second], [other, second * 5 + first * 3]);
      await inMemory(file).catch((error: unknown) => {
        throw new Error(`${one} + ${other} (${first * 7 + second}, ${second * 5 + first * 3}):\n${bytesOf(file)}`, {
          cause: error,
        });
      });
    }
  }
});

test("any few of them, anywhere, by every way", { timeout: LARGE ? 600_000 : 30_000 }, async () => {
  const few = fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.nat({ max: 9999 })), { minLength: 2, maxLength: 4 });
  const numRuns = LARGE ? 300 : 25;
  await fc.assert(
    fc.asyncProperty(few, async (odd) => {
      await inMemory(oddFile(...odd));
      await onDisk(oddFile(...odd));
      await inStore(oddFile(...odd));
    }),
    { seed: 20261201, numRuns },
  );
});

test("lines without ids that another program adds are taken in and classified like any other", async () => {
  await using dir = await tempDir();
  const path = await dir.write("s-1.jsonl", bytesOf(soundFile()));
  await using session = await openTranscript(path);
  await appendFile(path, `${JSON.stringify({ ...USER, timestamp: "2026-01-05T09:00:02.000Z" })}\n`);
  const line = soundFile().lines.length + 1;
  expect(await session.catchUp()).toBe("turn");
  expect(session.leaf()).toBe(`line-${line}`);
  expect(await session.entry(`line-${line}`)).toMatchObject({ parentId: "a5" });
  const { change } = await session.append(USER);
  expect(change).toBe("none");
  expect((await contextOfTranscript(path)).entryIds.slice(-3)).toEqual(["a5", `line-${line}`, session.leaf()]);
});
