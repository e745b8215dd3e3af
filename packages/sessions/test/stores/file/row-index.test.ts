/** The index over real files: cheap to follow, whole after a kill at any step, honest about edits and losses. */
import { appendFile, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { openSessions, type SessionRow, type SessionsProblem } from "@holdfast/sessions";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Disk, type DiskFile, realDisk } from "../../../src/stores/file/disk.ts";
import { KeptJournal } from "../../../src/stores/file/kept-journal.ts";
import { RowIndex } from "../../../src/stores/file/row-index.ts";
import { type TestDirectory, testDirectory } from "../../support/directories.ts";
import { user } from "../../support/entries.ts";
import { movableWorld } from "../../support/worlds.ts";

let directory: TestDirectory;
let problems: SessionsProblem[];
beforeEach(async () => {
  directory = await testDirectory();
  problems = [];
});
afterEach(() => directory[Symbol.asyncDispose]());

const row = (n: number): SessionRow => ({ sessionId: `s${n}`, sessionFile: `s${n}.jsonl`, n });
const path = (name: string): string => join(directory.path, name);

function index(at: (point: string) => void = () => {}, foldBytes = 1 << 20, disk: Disk = realDisk): RowIndex {
  const onProblem = (problem: SessionsProblem) => void problems.push(problem);
  const world = movableWorld(at);
  return new RowIndex({
    directory: directory.path,
    disk,
    world,
    lock: { timeoutMs: 5000, staleMs: 60_000, maxHoldMs: 60_000, onProblem },
    sync: false,
    foldBytes,
    onProblem,
  });
}

async function put(one: RowIndex, ...numbers: number[]): Promise<void> {
  for (const n of numbers) await one.update(`k${n}`, () => row(n));
}

async function rowsNow(one: RowIndex = index()): Promise<Record<string, unknown>> {
  return Object.fromEntries((await one.list()).map(({ key, row: value }) => [key, value.n]));
}

const codes = (): string[] => problems.map(({ code }) => code);

describe("journals and snapshot", () => {
  test("an update appends one line; a clean stop folds into valid JSON, one row a line", async () => {
    const one = index();
    await put(one, 1, 2, 1);
    const journal = await readFile(path("sessions.journal-1.jsonl"), "utf8");
    expect(
      journal
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).key),
    ).toEqual(["k1", "k2", "k1"]);
    await one.close();
    const text = await readFile(path("sessions.json"), "utf8");
    expect(JSON.parse(text)).toEqual({ k1: row(1), k2: row(2) });
    expect(text.trimEnd().split("\n")).toHaveLength(4);
    expect(await readFile(path("sessions.json.bak"), "utf8")).toBe(text);
    expect(await rowsNow()).toEqual({ k1: 1, k2: 2 });
    expect(codes()).toEqual([]);
  });

  test("folding in the background loses nothing while others write", async () => {
    const [one, two] = [index(() => {}, 300), index(() => {}, 300)];
    await Promise.all(Array.from({ length: 120 }, (_, n) => (n % 2 === 0 ? one : two).update(`k${n}`, () => row(n))));
    await Promise.all([one.close(), two.close()]);
    const expected = Object.fromEntries(Array.from({ length: 120 }, (_, n) => [`k${n}`, n]));
    expect(await rowsNow()).toEqual(expected);
    expect(await rowsNow(two)).toEqual(expected);
    expect(codes()).toEqual([]);
    expect((await readdir(directory.path)).filter((name) => name.includes("journal"))).toHaveLength(1);
  });

  test("a torn journal line is sealed and passed over; the rows around it live", async () => {
    await put(index(), 1);
    await appendFile(path("sessions.journal-1.jsonl"), '{"key":"k2","entry":{"sess');
    await put(index(), 3);
    expect(await rowsNow()).toEqual({ k1: 1, k3: 3 });
    expect(codes()).toContain("line_broken");
  });
});

describe("many changes at once", () => {
  test("those that wait share a write; each sees what came before it, and one that throws fails alone", async () => {
    const points: string[] = [];
    const one = index((point) => void points.push(point));
    await put(one, 0);
    points.length = 0;
    const all = await Promise.allSettled(
      Array.from({ length: 60 }, (_, n) =>
        one.update("counter", (before) => {
          if (n === 30) throw new TypeError("not today");
          return { ...row(0), n: Number(before?.n ?? 0) + 1 };
        }),
      ),
    );
    expect(all.flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : []))).toEqual([
      "TypeError: not today",
    ]);
    expect(all.flatMap((end) => (end.status === "fulfilled" ? [end.value?.n] : []))).toEqual(
      Array.from({ length: 59 }, (_, n) => n + 1),
    );
    expect(points.filter((point) => point === "index:before-write")).toHaveLength(1);
    expect(await rowsNow()).toEqual({ k0: 0, counter: 59 });
  });

  test("a write that fails fails all that share it; its descriptor is closed, and the next goes to what is there then", async () => {
    let isFull = false;
    const closed: string[] = [];
    const open: Disk["open"] = async (path, mode) => {
      const file = await realDisk.open(path, mode);
      const write: DiskFile["write"] = async (...given) => {
        if (isFull) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC" });
        return file.write(...given);
      };
      const close = async (): Promise<void> => {
        if (mode === "append") closed.push(basename(path));
        await file.close();
      };
      const { read, stat, datasync, sync } = file;
      const bound = {
        read: read.bind(file),
        stat: stat.bind(file),
        datasync: datasync.bind(file),
        sync: sync.bind(file),
      };
      return { ...bound, write, close, [Symbol.asyncDispose]: close };
    };
    const one = index(() => {}, 1 << 20, { ...realDisk, open });
    await put(one, 1, 2);
    expect(closed).toEqual([]);
    isFull = true;
    const both = await Promise.allSettled([put(one, 3), put(one, 4)]);
    for (const end of both) expect(end).toMatchObject({ status: "rejected", reason: { code: "write_failed" } });
    expect(closed).toEqual(["sessions.journal-1.jsonl"]);
    isFull = false;
    await put(one, 5);
    expect(await rowsNow()).toEqual({ k1: 1, k2: 2, k5: 5 });
    await put(one, 6);
    expect(closed).toHaveLength(1);
    await one.close();
    expect(closed.length).toBeGreaterThan(1);
    expect(await rowsNow()).toEqual({ k1: 1, k2: 2, k5: 5, k6: 6 });
  });

  test("a journal that was folded meanwhile is not made anew: what is in it would win over the snapshot", async () => {
    const missing = path("sessions.journal-7.jsonl");
    const late = new KeptJournal(realDisk, { canKeep: false, sync: true }).use(missing, async () => {});
    await expect(late).rejects.toMatchObject({ code: "write_failed", details: { errno: "ENOENT" } });
    expect(await readdir(directory.path)).not.toContain("sessions.journal-7.jsonl");
  });

  test("a journal that was replaced in between is the one that is written", async () => {
    const one = index();
    await put(one, 1);
    const journal = path("sessions.journal-1.jsonl");
    await writeFile(`${journal}.copy`, await readFile(journal));
    await rename(`${journal}.copy`, journal);
    await put(one, 2);
    expect(await rowsNow()).toEqual({ k1: 1, k2: 2 });
  });
});

/** Stops the whole index at the n-th point, as a kill would: nothing of it runs on. */
class Killed extends Error {}
function killer(n: number): { at: (point: string) => void; readonly reached: () => boolean } {
  let left = n;
  let reached = false;
  const at = () => {
    left -= 1;
    if (left > 0) return;
    reached = true;
    throw new Killed();
  };
  return { at, reached: () => reached };
}

describe("killed", () => {
  test("at every point of updates and folds: no row that was acknowledged is lost, none comes back", async () => {
    for (let n = 1; ; n++) {
      await rm(directory.path, { recursive: true });
      await mkdir(directory.path);
      const kill = killer(n);
      const expected: Record<string, number> = {};
      const removed: string[] = [];
      const one = index(kill.at);
      try {
        for (const round of [1, 2, 3]) {
          await put(one, round, round + 10);
          Object.assign(expected, { [`k${round}`]: round, [`k${round + 10}`]: round + 10 });
          // From here on it may be there or not.
          delete expected[`k${round + 10}`];
          await one.update(`k${round + 10}`, () => null);
          removed.push(`k${round + 10}`);
          await one.close();
        }
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
      }
      const found = await rowsNow();
      expect(found, `killed at ${n}`).toMatchObject(expected);
      for (const key of removed) expect(found, `killed at ${n}`).not.toHaveProperty(key);
      const after = index();
      await put(after, 99);
      await after.close();
      expect(await rowsNow(), `killed at ${n}`).toEqual({ ...found, k99: 99 });
      expect(codes().filter((code) => code !== "fold_failed")).toEqual([]);
      if (!kill.reached()) break;
      expect(n).toBeLessThan(100);
    }
  });
});

describe("edited, damaged, lost", () => {
  async function stopped(...numbers: number[]): Promise<void> {
    const one = index();
    await put(one, ...numbers);
    await one.close();
  }

  test("a hand edit is honoured, also against a journal that was not folded, and reported once", async () => {
    await stopped(1, 2, 3);
    await put(index(), 1, 4);
    await index().update("k3", () => ({ ...row(3), n: 33 }));
    const edited = JSON.parse(await readFile(path("sessions.json"), "utf8"));
    edited.k2 = { ...edited.k2, n: 22 };
    delete edited.k1;
    await writeFile(path("sessions.json"), JSON.stringify(edited, null, 2));
    const expected = { k2: 22, k3: 33, k4: 4 };
    expect(await rowsNow()).toEqual(expected);
    await put(index(), 5);
    problems.length = 0;
    expect(await rowsNow()).toEqual({ ...expected, k5: 5 });
    expect(codes()).toEqual([]);
    await index().update("k2", () => ({ ...row(2), n: 222 }));
    expect(await rowsNow()).toMatchObject({ k2: 222 });
  });

  test("an index of another program is taken over", async () => {
    await writeFile(path("sessions.json"), JSON.stringify({ k1: row(1), k2: { sessionId: "s2", n: 2 } }));
    expect(await rowsNow()).toEqual({ k1: 1, k2: 2 });
    await stopped(3);
    expect(await rowsNow()).toEqual({ k1: 1, k2: 2, k3: 3 });
  });

  test("a broken row is reported, the others live, and it is kept aside", async () => {
    await stopped(1, 2, 3);
    const text = await readFile(path("sessions.json"), "utf8");
    const damaged = text.replace('"s2"', '"s2');
    await writeFile(path("sessions.json"), damaged);
    expect(await rowsNow()).toMatchObject({ k1: 1, k3: 3 });
    expect(codes()).toContain("row_broken");
    await stopped(4);
    expect(await rowsNow()).toEqual({ k1: 1, k2: 2, k3: 3, k4: 4 });
    const aside = (await readdir(directory.path)).filter((name) => name.startsWith("sessions.json.damaged-"));
    expect(await readFile(path(aside[0] ?? ""), "utf8")).toBe(damaged);
  });

  test("a lost snapshot: its copy is used", async () => {
    await stopped(1, 2);
    await put(index(), 3);
    await rm(path("sessions.json"));
    expect(await rowsNow()).toEqual({ k1: 1, k2: 2, k3: 3 });
    expect(codes()).toContain("from_backup");
    await stopped(4);
    expect(await rowsNow()).toEqual({ k1: 1, k2: 2, k3: 3, k4: 4 });
  });
});

describe("rebuilt from the transcripts", () => {
  const onProblem = (problem: SessionsProblem) => void problems.push(problem);
  const open = () => openSessions({ directory: directory.path, onProblem });

  async function twoSessions(): Promise<readonly string[]> {
    await using sessions = await open();
    const ids: string[] = [];
    for (const key of ["agent:main:main", "agent:main:web:group:1"]) {
      await using session = await sessions.open(key, { channel: "web", chatType: "group" });
      await session.append(user(key));
      ids.push(session.id);
    }
    return ids;
  }

  async function loseIndex(): Promise<void> {
    for (const name of await readdir(directory.path)) if (name.startsWith("sessions.")) await rm(path(name));
  }

  test("each key opens the same transcript as before", async () => {
    const ids = await twoSessions();
    await loseIndex();
    await using sessions = await open();
    const session = await sessions.open("agent:main:web:group:1");
    expect([session.id, session.found]).toEqual([ids[1], "resumed"]);
    expect((await sessions.list()).map(({ row: one }) => one.sessionId).toSorted()).toEqual(ids.toSorted());
    expect(await sessions.get("agent:main:main")).toMatchObject({ channel: "web", chatType: "group" });
    expect(codes()).toContain("rebuilt");
  });

  test.each([
    ["empty", ""],
    ["NUL-filled", "\0".repeat(4096)],
    ["garbage", "\u0001not json at all\nnor this"],
    ["cut in the middle of its first row", '{\n"agent:main:main": {"sessionId": "'],
  ])("a snapshot that is there and %s, with nothing beside it, hides no conversation", async (_what, text) => {
    const ids = await twoSessions();
    await loseIndex();
    await writeFile(path("sessions.json"), text);
    await using sessions = await open();
    expect((await sessions.list()).map(({ row: one }) => one.sessionId).toSorted()).toEqual(ids.toSorted());
    expect(codes()).toContain("rebuilt");
    await using session = await sessions.open("agent:main:main");
    expect([session.id, session.found]).toEqual([ids[0], "resumed"]);
  });

  test("of two transcripts for one key the newer start wins; a reset one is left out", async () => {
    const [first = ""] = await twoSessions();
    const lines = (await readFile(path(`${first}.jsonl`), "utf8")).trimEnd().split("\n");
    const header = JSON.parse(lines[0] ?? "");
    const newer = JSON.stringify({ ...header, id: "newer", timestamp: "2999-01-01T00:00:00.000Z" });
    await writeFile(path("newer.jsonl"), `${[newer, ...lines.slice(1)].join("\n")}\n`);
    const closed = {
      type: "custom",
      customType: "holdfast:closed",
      data: { reason: "reset" },
      id: "c",
      parentId: null,
    };
    const reset = JSON.stringify({ ...header, id: "reset", timestamp: "2999-02-01T00:00:00.000Z" });
    await writeFile(path("reset.jsonl"), `${[reset, ...lines.slice(1), JSON.stringify(closed)].join("\n")}\n`);
    await loseIndex();
    await using sessions = await open();
    expect((await sessions.get("agent:main:main"))?.sessionId).toBe("newer");
    expect(problems).toContainEqual({ code: "rebuilt_twice", what: expect.stringContaining(first) });
  });
});

describe("paths", () => {
  test.each(["../outside.jsonl", "/etc/passwd", "link/x.jsonl", "file-link.jsonl", "."])(
    "a row that points to %s is path_outside",
    async (sessionFile) => {
      await using outside = await testDirectory();
      await symlink(outside.path, path("link"));
      await writeFile(join(outside.path, "target"), "");
      await symlink(join(outside.path, "target"), path("file-link.jsonl"));
      await index().update("agent:main:main", () => ({ sessionId: "s1", sessionFile }));
      await using sessions = await openSessions({ directory: directory.path });
      await expect(sessions.open("agent:main:main")).rejects.toMatchObject({ code: "path_outside" });
      expect(await readdir(outside.path)).toEqual(["target"]);
    },
  );
});
