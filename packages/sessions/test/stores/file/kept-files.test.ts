/**
 * What stays open between two appends: fewer files are opened, nothing is believed, nothing is locked. Facts come from a
 * disk that counts, from other programs and from the kernel.
 */
import { appendFile, copyFile, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { kernelLockAvailable, realWorld, tryFileLock, type World } from "@holdfast/base";
import type { Session } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { isMessage } from "../../../src/entry.ts";
import { openSessionsOn, openTranscriptOn } from "../../../src/open.ts";
import { type Disk, type DiskFile, realDisk } from "../../../src/stores/file/disk.ts";
import { KeptFiles } from "../../../src/stores/file/kept-files.ts";
import { testDirectory } from "../../support/directories.ts";
import { user } from "../../support/entries.ts";

interface Watched {
  readonly disk: Disk;
  /** How often files were opened to be written. */
  opened: number;
  /** Those that are open now. */
  readonly open: Set<DiskFile>;
  failSync: boolean;
}

function watchedDisk(): Watched {
  const watched = { opened: 0, open: new Set<DiskFile>(), failSync: false };
  const open: Disk["open"] = async (path, mode) => {
    const real = await realDisk.open(path, mode);
    const close = async (): Promise<void> => {
      watched.open.delete(file);
      await real.close();
    };
    const datasync = async (): Promise<void> => {
      if (watched.failSync) throw Object.assign(new Error("EIO"), { code: "EIO" });
      await real.datasync();
    };
    const file: DiskFile = {
      read: (...given) => real.read(...given),
      write: (...given) => real.write(...given),
      stat: (options) => real.stat(options),
      sync: () => real.sync(),
      datasync,
      close,
      [Symbol.asyncDispose]: close,
    };
    watched.open.add(file);
    if (mode !== "read") watched.opened += 1;
    return file;
  };
  return Object.assign(watched, { disk: { ...realDisk, open } });
}

const said = (session: Session): unknown[] =>
  session.path().flatMap((entry) => (isMessage(entry) ? [entry.message.content] : []));

const foreign = (id: string, parentId: string | null): string =>
  `${JSON.stringify({ type: "message", id, parentId, timestamp: "2026-01-01T00:00:00.000Z", message: { role: "user", content: id } })}\n`;

describe.runIf(kernelLockAvailable())("a transcript that is written again and again", () => {
  async function begin(world: World = realWorld()) {
    const directory = await testDirectory();
    const file = join(directory.path, "t.jsonl");
    const watched = watchedDisk();
    const session = await openTranscriptOn(watched.disk, file, { create: true }, world);
    const first = await session.append(user("first"));
    return {
      file,
      watched,
      session,
      leaf: first.entries[0]?.id ?? "",
      async [Symbol.asyncDispose]() {
        await session.close();
        await directory[Symbol.asyncDispose]();
      },
    };
  }

  test("is opened once, is not locked in between, and is closed with its session", async () => {
    await using given = await begin();
    const { file, watched, session } = given;
    const { opened } = watched;
    for (const text of ["a", "b", "c"]) {
      await session.append(user(text));
      tryFileLock(`${file}.lock`)?.release();
      using lock = tryFileLock(`${file}.lock`);
      expect(lock?.path).toBe(`${file}.lock`);
    }
    expect([watched.opened - opened, watched.open.size]).toEqual([0, 1]);
    await session.close();
    expect(watched.open.size).toBe(0);
  });

  test("a line of another program in between is taken in and classified", async () => {
    await using given = await begin();
    await appendFile(given.file, foreign("theirs", given.leaf));
    const { change, entries } = await given.session.append(user("ours"));
    expect([change, entries[0]?.parentId]).toEqual(["turn", "theirs"]);
    expect(said(given.session)).toEqual(["first", "theirs", "ours"]);
  });

  test("the same content under another inode in between is written, not the file that went", async () => {
    await using given = await begin();
    await copyFile(given.file, `${given.file}.copy`);
    await rename(given.file, `${given.file}.old`);
    await rename(`${given.file}.copy`, given.file);
    expect((await given.session.append(user("ours"))).change).toBe("moved");
    await given.session.append(user("more"));
    expect((await readFile(given.file, "utf8")).split("\n")).toHaveLength(5);
    expect((await readFile(`${given.file}.old`, "utf8")).split("\n")).toHaveLength(3);
    expect(given.watched.open.size).toBe(1);
  });

  test.each<[string, string, (file: string) => Promise<void>]>([
    [
      "another content in its place is",
      "rewritten",
      async (file) => writeFile(`${file}.new`, foreign("x", null)).then(() => rename(`${file}.new`, file)),
    ],
    ["a file that was cut is", "rewritten", (file) => writeFile(file, "")],
    ["a file that is removed is", "gone", (file) => rm(file)],
  ])("%s %s: nothing is written", async (_, code, change) => {
    await using given = await begin();
    await change(given.file);
    const before = await readFile(given.file, "utf8").catch(() => "none");
    await expect(given.session.append(user("ours"))).rejects.toMatchObject({ code });
    expect(await readFile(given.file, "utf8").catch(() => "none")).toBe(before);
  });

  test("a lock file that was removed in between is made anew, and the numbers go on", async () => {
    await using given = await begin();
    await rm(`${given.file}.lock`);
    const { entries } = await given.session.append(user("ours"));
    expect(entries[0]?.g).toBeGreaterThan(1);
    expect(JSON.parse(await readFile(`${given.file}.lock`, "utf8"))).toMatchObject({ g: entries[0]?.g });
  });

  test("after a failed sync the descriptor is closed and not used again", async () => {
    await using given = await begin();
    given.watched.failSync = true;
    await expect(given.session.append(user("lost"))).rejects.toMatchObject({ code: "write_failed" });
    expect(given.watched.open.size).toBe(0);
  });

  test("whoever holds the lock again and again stands back now and then, so that others meet it free", async () => {
    let nowMs = 0;
    const slept: number[] = [];
    const at: World["at"] = (point) => {
      if (point === "transcript:before-write") nowMs += 30;
    };
    const sleep: World["sleep"] = async (ms) => {
      slept.push(ms);
      nowMs += ms;
    };
    await using given = await begin({ ...realWorld(at), monotonicMs: () => nowMs, sleep });
    for (let n = 0; n < 12; n++) await given.session.append(user("at once"));
    expect(slept).toEqual([6, 6, 6]);
    for (let n = 0; n < 12; n++) {
      nowMs += 6;
      await given.session.append(user("with time in between"));
    }
    expect(slept).toHaveLength(3);
  });

  test("what nobody wrote to for a while is closed, and opened again by the next append", async () => {
    const looks: (() => void)[] = [];
    const every: World["every"] = (_, run) => {
      looks.push(run);
      return { [Symbol.dispose]: () => void looks.splice(looks.indexOf(run), 1) };
    };
    await using given = await begin({ ...realWorld(), every });
    const look = (): void => {
      for (const run of [...looks]) run();
    };
    look();
    expect(given.watched.open.size).toBe(1);
    await given.session.append(user("still at it"));
    look();
    expect(given.watched.open.size).toBe(1);
    look();
    await expect.poll(() => given.watched.open.size).toBe(0);
    expect(looks).toEqual([]);
    await given.session.append(user("back"));
    expect(said(given.session)).toEqual(["first", "still at it", "back"]);
  });

  test("is closed with the store", async () => {
    await using directory = await testDirectory();
    const watched = watchedDisk();
    const sessions = await openSessionsOn(watched.disk, { directory: directory.path }, realWorld());
    const session = await sessions.open("agent:main:main");
    await session.append(user("one"));
    await session.close();
    // The transcript, and the journal of the index.
    expect(watched.open.size).toBe(2);
    await sessions.close();
    expect(watched.open.size).toBe(0);
  });
});

test("where nothing may stay open, every append opens the transcript anew and closes it", async () => {
  await using directory = await testDirectory();
  const watched = watchedDisk();
  const locks = { ...realDisk.locks, mode: realDisk.locks.mode, keep: () => undefined };
  const file = join(directory.path, "t.jsonl");
  await using session = await openTranscriptOn({ ...watched.disk, locks }, file, { create: true }, realWorld());
  const { opened } = watched;
  for (const text of ["a", "b", "c"]) await session.append(user(text));
  expect([watched.opened - opened, watched.open.size]).toEqual([3, 0]);
  expect(said(session)).toEqual(["a", "b", "c"]);
});

test("only so many stay open: those that were used last", async () => {
  const closed: string[] = [];
  const keep = (path: string) => ({
    tryLock: () => undefined,
    readNote: () => undefined,
    close: () => void closed.push(path),
  });
  const disk = { ...realDisk, locks: { ...realDisk.locks, keep } };
  const files = new KeptFiles({ disk, world: realWorld() });
  for (let n = 0; n < 130; n++) files.giveBack(`${n}`, files.take(`${n}`));
  files.giveBack("2", files.take("2"));
  files.giveBack("130", files.take("130"));
  expect(closed).toEqual(["0.lock", "1.lock", "3.lock"]);
  await files.closeAll();
  expect(closed).toHaveLength(131);
  expect(files.has("130")).toBe(false);
});
