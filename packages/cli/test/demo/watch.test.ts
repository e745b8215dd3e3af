/** The counter sees every write, in whichever way it is made, and nothing else. */
import { chmod, rename, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { realWorld } from "@holdfast/base";
import { expect, test, vi } from "vitest";
import { WriteWatch } from "../../src/demo/watch.ts";
import { temporaryDirectory } from "../support/cli.ts";

async function placed(directory: string, text: string): Promise<void> {
  await writeFile(join(directory, ".aside"), text);
  await rename(join(directory, ".aside"), join(directory, "todo.md"));
}

async function watched(run: (directory: string) => Promise<void>, expected: number): Promise<void> {
  await using directory = await temporaryDirectory();
  const watch = new WriteWatch(directory.path, "todo.md", realWorld());
  await run(directory.path);
  await vi.waitFor(() => expect(watch.count).toBe(expected));
  await placed(directory.path, "the end"); // notices come in order: whatever was missing would be counted by now
  await vi.waitFor(() => expect(watch.count).toBe(expected + 1));
  watch.close();
}

test("nothing was written", () => watched(async () => {}, 0));
test("one file put in place", () => watched((directory) => placed(directory, "a"), 1));
test("the same content put in place twice is two writes", () =>
  watched(async (directory) => {
    await placed(directory, "a");
    await placed(directory, "a");
  }, 2));
test("another file, and a change of mode, are no writes", () =>
  watched(async (directory) => {
    await placed(directory, "a");
    await chmod(join(directory, "todo.md"), 0o600);
    await writeFile(join(directory, "other.md"), "b");
  }, 1));
test("a write into the old file is one more", () =>
  watched(async (directory) => {
    await placed(directory, "a");
    await new Promise((resolve) => setTimeout(resolve, 20)); // let it be seen first: the count below is by state
    await utimes(join(directory, "todo.md"), 1, 1);
  }, 2));
