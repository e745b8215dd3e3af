/** Locks that are files: whose may be taken over, when, and what is left behind as evidence. */
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Identity, identityOf } from "@holdfast/base";
import type { SessionsProblem } from "@holdfast/sessions";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type CreatedLock, CreateLocks } from "../../../src/stores/file/create-lock.ts";
import { realDisk } from "../../../src/stores/file/disk.ts";
import { runChild } from "../../support/child.ts";
import { type TestDirectory, testDirectory } from "../../support/directories.ts";
import { movableWorld } from "../../support/worlds.ts";

const STALE_MS = 60_000;
let directory: TestDirectory;
let problems: SessionsProblem[];
let aheadMs: number;

beforeEach(async () => {
  directory = await testDirectory();
  problems = [];
  aheadMs = 0;
});
afterEach(() => directory[Symbol.asyncDispose]());

const path = (): string => join(directory.path, "t.jsonl");

function locks(takeover?: "dead"): CreateLocks {
  const world = { ...movableWorld() };
  const { monotonicMs } = world;
  world.monotonicMs = () => monotonicMs() + aheadMs;
  const options = { timeoutMs: 50, staleMs: STALE_MS, onProblem: (one: SessionsProblem) => void problems.push(one) };
  return new CreateLocks({ disk: realDisk, world }, { ...options, ...(takeover && { takeover }) });
}

/** A lock that somebody made and left. */
async function leave(holder: Partial<Identity> | string): Promise<void> {
  const text = typeof holder === "string" ? holder : `${JSON.stringify({ ...identityOf("theirs"), ...holder })}\n`;
  await writeFile(`${path()}.held`, text);
}

async function taken(one: CreateLocks): Promise<CreatedLock> {
  const lock = await one.tryTake(path());
  if ("heldBy" in lock) throw new Error(`held by ${lock.heldBy}`);
  return lock;
}

describe("holders that are proven dead: taken over at once, no fence", () => {
  test("a process of this boot that is gone", async () => {
    const child = await runChild("./identity.ts", []);
    await leave(`${child.lines[0]}\n`);
    const lock = await taken(locks());
    expect(lock.evidence).toEqual([]);
    expect(problems).toMatchObject([{ code: "lock_reclaimed" }]);
    await lock.release();
    expect(await readdir(directory.path)).toEqual(["t.jsonl.held.reclaim"]);
  });

  test("a pid that is in use again: the process there was started at another time", async () => {
    await leave({ start: "1" });
    await (await taken(locks())).release();
  });
});

describe("holders that nobody can check: only after they were not renewed for staleMs, and with evidence", () => {
  test.each<[string, Partial<Identity> | string]>([
    ["of another boot", { boot: "another" }],
    ["of another pid namespace, with our own pid", { pidns: "pid:[1]" }],
    ["of another host on a share", { boot: "another", host: "another" }],
    ["alive, and not renewing: it sleeps, or its hold is over", {}],
  ])("%s", async (_, holder) => {
    await leave(holder);
    const one = locks();
    await expect(one.take(path())).rejects.toMatchObject({ code: "lock_timeout" });
    aheadMs = STALE_MS - 1000;
    await expect(one.take(path())).rejects.toMatchObject({ code: "lock_timeout" });
    // A renewal begins the time anew, whatever its clock says.
    await writeFile(`${path()}.held`, "\n", { flag: "a" });
    aheadMs = 2 * STALE_MS - 2000;
    await expect(one.take(path())).rejects.toMatchObject({ code: "lock_timeout" });
    aheadMs = 4 * STALE_MS;
    const lock = await taken(one);
    expect(lock.evidence).toHaveLength(1);
    await lock.release();
    // Whoever comes next fences too, until somebody did and says so.
    const next = await taken(locks());
    expect(next.evidence).toHaveLength(1);
    await next.clear();
    await next.release();
    const last = await taken(locks());
    expect(last.evidence).toEqual([]);
    await last.release();
  });

  test("one whose maker did not come to write its name is free after some seconds", async () => {
    await leave("");
    const one = locks();
    expect(await one.tryTake(path())).toHaveProperty("heldBy");
    aheadMs = 5_001;
    await (await taken(one)).release();
  });

  test("a lock for folding is left to whoever cannot be checked, however long it takes", async () => {
    await leave({ boot: "another" });
    const one = locks("dead");
    await one.tryTake(path());
    aheadMs = 100 * STALE_MS;
    expect(await one.tryTake(path())).toHaveProperty("heldBy");
  });
});

describe("a lock that was caught by mistake", () => {
  test("a release that finds another's lock leaves it alone", async () => {
    const lock = await taken(locks());
    await rename(`${path()}.held`, join(directory.path, "away"));
    await leave({});
    expect(await lock.isOurs()).toBe(false);
    await lock.release();
    expect(await readFile(`${path()}.held`, "utf8")).toContain('"theirs"');
    expect(problems).toEqual([]);
  });

  test("one that was moved aside by another holder is evidence; one under its own holder's name is a release", async () => {
    await mkdir(`${path()}.held.reclaim`);
    const aside = (name: string) => join(`${path()}.held.reclaim`, name);
    await writeFile(aside("somebody"), `${JSON.stringify(identityOf("theirs"))}\n`);
    await writeFile(aside("theirs"), `${JSON.stringify(identityOf("theirs"))}\n`);
    const lock = await taken(locks());
    expect(lock.evidence).toEqual([aside("somebody")]);
    await lock.release();
  });

  /** One whose lock was caught by mistake may believe for a moment; the look before its write tells it otherwise. */
  test("of many that find a dead holder at once exactly one has it", async () => {
    const child = await runChild("./identity.ts", []);
    await leave(`${child.lines[0]}\n`);
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => locks().tryTake(path())));
    const winners = outcomes.filter((one): one is CreatedLock => !("heldBy" in one));
    const owned = await Promise.all(winners.map((one) => one.isOurs()));
    expect(owned.filter(Boolean)).toHaveLength(1);
    for (const one of winners) await one.release();
  });
});

test("a hold of half of staleMs is not believed any more, by its own clock", async () => {
  const lock = await taken(locks());
  expect(await lock.isOurs()).toBe(true);
  aheadMs = STALE_MS / 2;
  expect(await lock.isOurs()).toBe(false);
  await lock.release();
});
