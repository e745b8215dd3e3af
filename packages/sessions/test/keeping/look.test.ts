/** What is known of a log without reading it is what reading all of it says; and it is known from few bytes. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { realWorld } from "@holdfast/base";
import fc from "fast-check";
import { openSessionsOn } from "@holdfast/sessions/internal";
import { describe, expect, test } from "vitest";
import { type Entry, fieldsOf } from "../../src/entry.ts";
import { lookAt, standingOf } from "../../src/keeping/look.ts";
import { stateOf } from "../../src/keeping/marks.ts";
import { memorySource } from "../../src/reading/source.ts";
import type { Position, Reading } from "../../src/store.ts";
import { countingDisk } from "../support/counting-disk.ts";
import { testDirectory } from "../support/directories.ts";
import { user as said } from "../support/entries.ts";
import { answer, call, custom, fileOf, make, result, user } from "../support/make.ts";

const KEY = "agent:main:main";
const PADDING = user("padding", null, "x".repeat(300_000));

function readingOf(entries: readonly Entry[]): Reading {
  const source = memorySource(fileOf([PADDING, ...entries]));
  return { source, position: "" as unknown as Position, since: "none", async [Symbol.asyncDispose]() {} };
}

/** A log of ours: entries on any branch; a call is followed by its results, if by anything. */
class Log {
  readonly entries: Entry[] = [];
  #at = "padding";
  /** Where one may go on: everything but between a call and its results. */
  readonly #free = ["padding"];
  #calls: string[] = [];
  #asked: string | null = null;

  add(kind: number, pick: number): void {
    const id = `e${this.entries.length}`;
    if (kind === 0) this.#move(id, this.#free[pick % this.#free.length] ?? "padding");
    else if (kind === 1) this.#put({ ...custom(id, this.#at, "holdfast:turn", { n: pick }), g: 1 });
    else if (kind === 2) this.#put({ ...make("label", id, this.#at, { targetId: "padding", label: "l" }), g: 1 });
    else if (kind === 3 && this.#calls.length > 0 && this.#asked === null) this.#approval(id);
    else if (kind === 3) this.#put({ ...make("usage", id, this.#at, {}), g: 1 });
    else if (this.#asked !== null && pick % 3 > 0) this.#approval(id);
    else if (this.#asked !== null) return;
    else if (this.#calls.length > 0) this.#put({ ...result(id, this.#at, this.#calls.shift() ?? ""), g: 1 });
    else if (kind === 4) this.#call(id, pick);
    else this.#put({ ...(kind === 5 ? user(id, this.#at, "q") : answer(id, this.#at, "a")), g: 1 });
    if (this.#calls.length === 0) this.#free.push(id);
  }

  /** Put away at the end, and perhaps open again. */
  close(reopened: boolean): void {
    this.#put({ ...custom("closed", this.#at, "holdfast:closed", { reason: "archive" }), g: 1 });
    if (reopened) this.#put({ ...custom("opened", this.#at, "holdfast:opened", { reason: "archive" }), g: 1 });
  }

  #put(entry: Entry): void {
    this.entries.push(entry);
    this.#at = entry.id;
  }

  #move(id: string, to: string): void {
    this.#at = to;
    this.#calls = [];
    this.#asked = null;
    this.#put({ ...custom(id, to, "holdfast:leaf"), g: 1 });
  }

  #call(id: string, pick: number): void {
    this.#calls = Array.from({ length: 1 + (pick % 2) }, () => `call-${pick % 3}`);
    const entry = call(id, this.#at, this.#calls);
    const message =
      pick % 5 === 0 ? { ...entry, message: { ...Object(fieldsOf(entry).message), stopReason: "aborted" } } : entry;
    this.#put({ ...message, ...(pick % 7 === 0 ? {} : { g: 1 }) } as Entry);
  }

  /** Asks, or answers what was asked last. */
  #approval(id: string): void {
    const answered = this.#asked === null ? {} : { answered: "yes" };
    const key = this.#asked ?? id;
    this.#asked = this.#asked === null ? id : null;
    this.#put({ ...custom(id, this.#at, "holdfast:approval", { key, ...answered }), g: 1 });
  }
}

describe("of any log of ours", () => {
  const steps = fc.array(fc.tuple(fc.nat(6), fc.nat(30)), { maxLength: 30 });
  const end = fc.constantFrom("live", "closed", "opened");

  test("the ends of its branches and its last lines tell what all of it tells", async () => {
    let quiet = 0;
    await fc.assert(
      fc.asyncProperty(steps, end, async (all, how) => {
        const log = new Log();
        for (const [kind, pick] of all) log.add(kind, pick);
        if (how !== "live") log.close(how === "opened");
        const now = readingOf(log.entries);
        const state = await stateOf(now.source);
        expect(await lookAt(now)).toEqual(state);
        const { leaf, version, mark } = state;
        expect(await standingOf(now.source)).toEqual({ leaf, version, mark });
        if (state.openCalls.length + state.openApprovals.length === 0) quiet += 1;
      }),
      { numRuns: 100 },
    );
    expect(quiet).toBeGreaterThan(10);
  });
});

test("a long conversation is put away, and comes back, without being read", async () => {
  await using directory = await testDirectory();
  const { disk, taken } = countingDisk();
  await using sessions = await openSessionsOn(disk, { directory: directory.path, fsync: "never" }, realWorld());
  const session = await sessions.open(KEY);
  for (let n = 0; n < 16; n++) {
    await session.append(Array.from({ length: 250 }, (_, m) => ({ ...said("x".repeat(1000)), id: `q${n}-${m}` })));
  }
  await session.append({ type: "compaction", summary: "s", firstKeptEntryId: "q15-249", tokensBefore: 1 });
  const { size } = await stat(session.file ?? "");
  const live = `/${session.id}.jsonl`;
  const dueBytes: number[] = [];
  for (let round = 0; round < 2; round++) {
    taken(live);
    const due = await sessions.keep.cleanup({ maxAgeMs: 0, maxBytes: 0, backgroundMax: null }, { dryRun: true });
    expect(due.archived).toHaveLength(1);
    dueBytes.push(taken(live));
  }
  expect(await sessions.keep.archive(KEY)).toMatchObject({ kind: "archived" });
  const awayBytes = taken(live);
  expect((await readdir(join(directory.path, "archive"))).length).toBe(1);
  const again = await sessions.open(KEY);
  expect((await again.context()).entryIds).toHaveLength(2);
  const backBytes = taken(live);
  expect(size).toBeGreaterThan(4_000_000);
  // The first look makes the index beside the transcript. What is left are ends: 64 KiB for each position in the file.
  expect(dueBytes[0]).toBeLessThan(1.2 * size);
  for (const bytes of [dueBytes[1], awayBytes, backBytes]) expect(bytes).toBeLessThan(size / 4);
});
