/** Sources: a snapshot of a file that grows, short reads, and refusals. */
import { appendFile, open, readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { fileSource, memorySource, openSource } from "../../src/reading/source.ts";
import { tempDir } from "../support/make.ts";

test("memory gives what there is", async () => {
  const source = memorySource("hello");
  expect([source.size, String(await source.read(1, 3)), String(await source.read(3, 9))]).toEqual([5, "ell", "lo"]);
  expect(memorySource(new Uint8Array([65, 66]).subarray(1)).size).toBe(1);
});

test("a file is read as long as it was, however it grows", async () => {
  await using directory = await tempDir();
  const path = await directory.write("a", "12345");
  await using source = await openSource(path);
  await appendFile(path, "67890");
  expect([source.size, source.path, String(await source.read(3, 100))]).toEqual([5, path, "45"]);
  expect((await source.read(9, 5)).length).toBe(0);
  expect(await readFile(path, "utf8")).toBe("1234567890");
});

test("a handle stays its owner's; a file that shrank gives what is left", async () => {
  await using directory = await tempDir();
  await using handle = await open(await directory.write("a", "12345"), "r+");
  const source = await fileSource(handle);
  await handle.truncate(2);
  expect(String(await source.read(0, 5))).toBe("12");
  expect((await fileSource(handle, 1)).size).toBe(1);
});

test("what cannot be read says why", async () => {
  await using directory = await tempDir();
  await expect(openSource(directory.path)).rejects.toMatchObject({ code: "not_a_file" });
  await expect(openSource(`${directory.path}/none`)).rejects.toMatchObject({ code: "file_missing" });
  await expect(openSource("/dev/null")).rejects.toMatchObject({ code: "not_a_file" });
  const source = await openSource(await directory.write("a", "x"));
  await source[Symbol.asyncDispose]();
  await expect(source.read(0, 1)).rejects.toMatchObject({ code: "read_failed" });
});
