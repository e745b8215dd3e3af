/** A position after our own write is the one that asking the file would give, and it notices what others do. */
import { appendFile, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { realDisk } from "../../../src/stores/file/disk.ts";
import { isTorn, offsetOf, positionAfter, positionOf, since } from "../../../src/stores/file/position.ts";
import { testDirectory } from "../../support/directories.ts";

test("following our own writes is the same as asking the file", async () => {
  await using directory = await testDirectory();
  const pieces = fc.array(
    fc.oneof(fc.uint8Array({ maxLength: 50 }), fc.uint8Array({ minLength: 60_000, maxLength: 70_000 })),
    {
      maxLength: 6,
    },
  );
  let count = 0;
  const follows = fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), pieces, async (first, added) => {
    const path = join(directory.path, `${count++}`);
    await writeFile(path, first);
    await using file = await realDisk.open(path, "append");
    let position = await positionOf(file);
    for (const piece of added) {
      const bytes = Buffer.from(piece);
      await file.write(bytes, 0, bytes.length);
      position = await positionAfter(file, position, bytes);
      expect(isTorn(position)).toBe(isTorn(await positionOf(file)));
      expect(offsetOf(position)).toBe(offsetOf(await positionOf(file)));
      expect((await since(file, position)).since).toBe("none");
    }
    // What was followed is what the file holds: a touched file is compared byte by byte, and a changed one is found.
    await utimes(path, 1, 1);
    expect((await since(file, position)).since).toBe("none");
    const { size } = await file.stat({ bigint: true });
    if (size > 0n) {
      const bytes = await readFile(path);
      bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
      await writeFile(path, bytes);
      expect((await since(file, position)).since).toBe("rewritten");
    }
  });
  await fc.assert(follows, { numRuns: 30 });
});

test("what somebody else wrote in between is in the position, as the file has it", async () => {
  await using directory = await testDirectory();
  const path = join(directory.path, "log");
  await writeFile(path, "one\n");
  await using file = await realDisk.open(path, "append");
  const before = await positionOf(file);
  await appendFile(path, "theirs\n");
  const ours = Buffer.from("ours\n");
  await file.write(ours, 0, ours.length);
  const position = await positionAfter(file, before, ours);
  expect(offsetOf(position)).toBe("one\ntheirs\nours\n".length);
  // Touched, it is compared byte by byte.
  await utimes(path, 1, 1);
  expect((await since(file, position)).since).toBe("none");
});

test.each([
  { text: "", torn: false },
  { text: "one\n", torn: false },
  { text: "one", torn: true },
])("$text: torn is $torn", async ({ text, torn }) => {
  await using directory = await testDirectory();
  const path = join(directory.path, "log");
  await writeFile(path, text);
  await using file = await realDisk.open(path, "read");
  const position = await positionOf(file);
  expect([isTorn(position), offsetOf(position)]).toEqual([torn, text.length]);
});

test("a byte changed before the position is a rewritten file; one far before it is not looked at", async () => {
  await using directory = await testDirectory();
  const path = join(directory.path, "log");
  const content = Buffer.alloc(70_000, "x");
  await writeFile(path, content);
  await using file = await realDisk.open(path, "read");
  const before = await positionOf(file);
  content[100] = 0x79;
  await writeFile(path, content);
  expect((await since(file, before)).since).toBe("none");
  content[69_999] = 0x79;
  await writeFile(path, content);
  expect((await since(file, before)).since).toBe("rewritten");
});
