/** What stands in the place of a file is refused at once: a pipe is not waited for, a device not read without end. */
import { execFileSync } from "node:child_process";
import { constants, readdirSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { openRegularSync, readLockNote, readText, tryFileLock } from "@holdfast/base";
import { describe, expect, test } from "vitest";
import { type Temp, tempDirectory } from "./support/temp.ts";

const put: Readonly<Record<string, (temp: Temp) => unknown>> = {
  "a pipe": (temp) => execFileSync("mkfifo", [temp.at("f")]),
  "a device": (temp) => symlink("/dev/zero", temp.at("f")),
  "a socket": async (temp) => {
    const server = createServer();
    await new Promise<void>((listening) => server.listen(temp.at("f"), listening));
    // Its name stays only as long as somebody listens.
    return { [Symbol.asyncDispose]: () => new Promise((closed) => server.close(closed)) };
  },
};

describe.each(Object.keys(put))("%s", (what) => {
  test("as a file, as a lock, as a lock's note", async () => {
    await using temp = await tempDirectory();
    const made = (await put[what]?.(temp)) as AsyncDisposable | undefined;
    try {
      const refused = expect.objectContaining({
        code: "not_regular",
        message: expect.stringContaining(`is ${what}, not a`),
      });
      await expect(readText(temp.at("f"))).rejects.toEqual(refused);
      for (const flags of [constants.O_RDONLY, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT]) {
        expect(() => openRegularSync(temp.at("f"), flags)).toThrow(refused);
      }
      expect(() => tryFileLock(temp.at("f"))).toThrow(refused);
      expect(() => readLockNote(temp.at("f"))).toThrow(refused);
    } finally {
      await made?.[Symbol.asyncDispose]?.();
    }
  });
});

test("a directory says so as the system does, with its path", async () => {
  await using temp = await tempDirectory();
  await mkdir(temp.at("f"));
  const refused = expect.objectContaining({ code: "EISDIR", path: temp.at("f") });
  await expect(readText(temp.at("f"))).rejects.toEqual(refused);
  expect(() => openRegularSync(temp.at("f"), constants.O_RDONLY)).toThrow(refused);
});

test("a file is read whole; one that is not there is ENOENT", async () => {
  await using temp = await tempDirectory();
  await writeFile(temp.at("f"), "ü".repeat(100_000));
  expect(await readText(temp.at("f"))).toBe("ü".repeat(100_000));
  await expect(readText(temp.at("none"))).rejects.toMatchObject({ code: "ENOENT" });
});

test.runIf(process.platform === "linux")("what was refused is not left open", async () => {
  await using temp = await tempDirectory();
  await symlink("/dev/zero", temp.at("f"));
  const before = readdirSync("/proc/self/fd").length;
  for (let round = 0; round < 50; round++) {
    expect(() => openRegularSync(temp.at("f"), constants.O_RDONLY)).toThrow();
    await expect(readText(temp.at("f"))).rejects.toThrow();
  }
  expect(readdirSync("/proc/self/fd").length).toBeLessThan(before + 10);
});
