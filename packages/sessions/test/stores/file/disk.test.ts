/** The real disk: a file is closed after what is on its way, and never used again. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { realDisk } from "../../../src/stores/file/disk.ts";
import { testDirectory } from "../../support/directories.ts";

test("closing waits for a read that is on its way; afterwards every call is EBADF, also when another file is open", async () => {
  await using directory = await testDirectory();
  const path = join(directory.path, "file");
  await writeFile(path, "hello");
  const file = await realDisk.open(path, "read");
  const into = Buffer.alloc(5);
  const reading = file.read(into, 0, 5, 0);
  await file.close();
  expect([(await reading).bytesRead, into.toString()]).toEqual([5, "hello"]);
  await using _other = await realDisk.open(path, "read");
  await expect(file.read(into, 0, 5, 0)).rejects.toMatchObject({ code: "EBADF" });
  await expect(file.stat({ bigint: true })).rejects.toMatchObject({ code: "EBADF" });
});

test("long writes and short ones land one after the other at the end", async () => {
  await using directory = await testDirectory();
  await using file = await realDisk.open(join(directory.path, "file"), "new");
  const long = Buffer.alloc(100_000, "x");
  for (const bytes of [Buffer.from("a"), long, Buffer.from("b")]) await file.write(bytes, 0, bytes.length);
  expect((await file.stat({ bigint: true })).size).toBe(100_002n);
});
