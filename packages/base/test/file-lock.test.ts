/** Kernel locks between real processes, with the native module and with SQLite in its place. */
import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { fileLock, kernelLockAvailable, keptFileLock, readLockNote, realWorld, tryFileLock } from "@holdfast/base";
import { describe, expect, test } from "vitest";
import { startChild } from "./support/child.ts";
import { tempDirectory } from "./support/temp.ts";

const world = realWorld(() => {});
const noNative = `--import=${fileURLToPath(new URL("support/no-native.ts", import.meta.url))}`;

describe.each([
  { kind: "kernel", node: [] },
  { kind: "sqlite", node: [noNative] },
])("$kind", ({ kind, node }) => {
  test("excludes another process until it is killed", async () => {
    await using temp = await tempDirectory();
    const path = temp.at("lock");
    await using first = startChild("lock", [path], { node });
    expect(await first.line()).toBe(`locked ${kind}`);
    await using second = startChild("lock", [path], { node });
    expect(await second.line()).toBe(`busy ${kind}`);
    expect(readLockNote(path)).toEqual({ pid: first.process.pid });
    first.process.kill("SIGKILL");
    await first.ended();
    await using third = startChild("lock", [path], { node });
    expect(await third.line()).toBe(`locked ${kind}`);
  });

  test("excludes its own process too, and asking twice does not lose it", async () => {
    await using temp = await tempDirectory();
    await using keeper = startChild("lock-twice", [temp.at("lock"), "keep"], { node });
    expect(await keeper.line()).toBe("true false");
    await using other = startChild("lock", [temp.at("lock")], { node });
    expect(await other.line()).toBe(`busy ${kind}`);
  });

  test("is not lost when its object is forgotten and collected", async () => {
    await using temp = await tempDirectory();
    await using keeper = startChild("lock-forgotten", [temp.at("lock")], { node: [...node, "--expose-gc"] });
    expect(await keeper.line()).toBe("collected");
    await using other = startChild("lock", [temp.at("lock")], { node });
    expect(await other.line()).toBe(`busy ${kind}`);
  });

  test("releasing frees it", async () => {
    await using temp = await tempDirectory();
    await using child = startChild("lock-twice", [temp.at("lock"), "release"], { node });
    expect([await child.line(), await child.line()]).toEqual(["true false", "true"]);
  });

  test("its files are private", async () => {
    await using temp = await tempDirectory();
    await using child = startChild("lock", [temp.at("lock")], { node });
    await child.line();
    const names = kind === "sqlite" ? ["lock", "lock.db"] : ["lock"];
    expect(names.map((name) => statSync(temp.at(name)).mode & 0o777)).toEqual(names.map(() => 0o600));
  });

  test("a path where a directory stands is an error, not a busy lock", async () => {
    await using temp = await tempDirectory();
    await mkdir(temp.at(kind === "sqlite" ? "lock.db" : "lock"));
    await using child = startChild("lock", [temp.at("lock")], { node });
    expect(await child.line()).toBeUndefined();
    expect(await child.ended()).toBe(1);
    expect(child.stderr()).toMatch(kind === "sqlite" ? /ERR_SQLITE_ERROR|EISDIR/ : /EISDIR/);
  });
});

test("a database that is none is an error, not a busy lock", async () => {
  await using temp = await tempDirectory();
  writeFileSync(temp.at("lock.db"), "this is text, not a database ".repeat(100));
  await using child = startChild("lock", [temp.at("lock")], { node: [noNative] });
  expect(await child.line()).toBeUndefined();
  expect(child.stderr()).toMatch(/not a database/);
});

describe.runIf(kernelLockAvailable())("in this process", () => {
  test("a lock on a file that was replaced meanwhile does not count", async () => {
    await using temp = await tempDirectory();
    const path = temp.at("lock");
    using first = tryFileLock(path);
    expect(first).toBeDefined();
    renameSync(path, temp.at("aside"));
    using second = tryFileLock(path);
    expect(second).toBeDefined();
    expect(statSync(path).ino).not.toBe(statSync(temp.at("aside")).ino);
    expect(tryFileLock(path)).toBeUndefined();
  });

  test("a file removed between opening and locking is made again", async () => {
    await using temp = await tempDirectory();
    const path = temp.at("lock");
    tryFileLock(path)?.release();
    rmSync(path);
    using lock = tryFileLock(path);
    expect(statSync(path).isFile()).toBe(true);
    expect(lock?.path).toBe(path);
  });

  test("it is held until it is released, or its file is removed or replaced", async () => {
    await using temp = await tempDirectory();
    const lock = tryFileLock(temp.at("lock"))!;
    expect(lock.stillHeld()).toBe(true);
    rmSync(temp.at("lock"));
    expect(lock.stillHeld()).toBe(false);
    using next = tryFileLock(temp.at("lock"));
    expect([lock.stillHeld(), next?.stillHeld()]).toEqual([false, true]);
    next?.release();
    expect(next?.stillHeld()).toBe(false);
    lock.release();
  });

  test("release may be called twice and does not touch the next holder", async () => {
    await using temp = await tempDirectory();
    const first = tryFileLock(temp.at("lock"));
    first?.release();
    using second = tryFileLock(temp.at("lock"));
    first?.release();
    expect(second).toBeDefined();
    expect(tryFileLock(temp.at("lock"))).toBeUndefined();
  });

  test("a lock file that is kept open is locked only while it is held, and opened anew when it was replaced", async () => {
    await using temp = await tempDirectory();
    const path = temp.at("lock");
    const kept = keptFileLock(path)!;
    for (const round of [1, 2]) {
      const lock = kept.tryLock();
      lock?.note({ round, long: "a".repeat(100 / round) });
      expect([kept.tryLock() === undefined, tryFileLock(path)]).toEqual([false, undefined]);
      expect(kept.readNote()).toEqual(readLockNote(path));
      lock?.release();
      using other = tryFileLock(path);
      expect([other?.path, kept.tryLock()]).toEqual([path, undefined]);
    }
    renameSync(path, temp.at("aside"));
    using mine = kept.tryLock();
    expect([mine?.path, tryFileLock(path), kept.readNote()]).toEqual([path, undefined, undefined]);
    tryFileLock(temp.at("aside"))!.release();
    rmSync(path);
    mine?.release();
    using again = kept.tryLock();
    expect([again?.path, statSync(path).isFile()]).toEqual([path, true]);
    again?.release();
    kept.close();
    expect(tryFileLock(path)).toBeDefined();
  });

  test("nothing is kept open where other machines may write, nor where that is not known", async () => {
    expect(keptFileLock("/proc/self/lock")).toBeUndefined();
    expect(keptFileLock("/nowhere/at/all/lock")).toBeUndefined();
  });

  test("a note that is longer than others are is read whole, and one that changed is read anew", async () => {
    await using temp = await tempDirectory();
    const kept = keptFileLock(temp.at("lock"))!;
    using lock = kept.tryLock();
    for (const text of ["a".repeat(5000), "b", "c", "d".repeat(4085), "e".repeat(4084)]) {
      lock?.note({ text });
      expect(kept.readNote()).toEqual({ text });
    }
  });

  test("a shorter note replaces a longer one; there is none without a file", async () => {
    await using temp = await tempDirectory();
    using lock = tryFileLock(temp.at("lock"));
    lock?.note({ text: "a".repeat(500) });
    lock?.note({ b: 1 });
    expect(readLockNote(temp.at("lock"))).toEqual({ b: 1 });
    expect(readLockNote(temp.at("missing"))).toBeUndefined();
    await mkdir(temp.at("directory"));
    expect(() => readLockNote(temp.at("directory"))).toThrow(expect.objectContaining({ code: "EISDIR" }));
  });

  test("waiting: gets it when it is freed", async () => {
    await using temp = await tempDirectory();
    const held = tryFileLock(temp.at("lock"));
    const waiting = fileLock(temp.at("lock"), world, { timeoutMs: 20_000 });
    held?.release();
    using lock = await waiting;
    expect(lock.path).toBe(temp.at("lock"));
  });

  test("waiting: times out naming the holder, or ends with the signal's reason", async () => {
    await using temp = await tempDirectory();
    const path = temp.at("lock");
    using held = tryFileLock(path);
    await expect(fileLock(path, world, { timeoutMs: 5 })).rejects.toMatchObject({
      code: "lock_timeout",
      details: { path, timeoutMs: 5, holder: '"unknown"' },
    });
    held?.note({ pid: 42 });
    await expect(fileLock(path, world, { timeoutMs: 5 })).rejects.toThrow(/held by {"pid":42}/);
    const abort = new AbortController();
    const waiting = fileLock(path, world, { timeoutMs: 60_000, signal: abort.signal });
    abort.abort(new Error("enough"));
    await expect(waiting).rejects.toThrow("enough");
  });
});
