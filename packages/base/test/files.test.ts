/** A file written whole: killed at any point it holds the old content or the new; refused, it leaves no trace. */
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { makePrivateDirectory, realWorld, syncDirectory, writeWhole } from "@holdfast/base";
import { describe, expect, test } from "vitest";
import { startChild } from "./support/child.ts";
import { tempDirectory } from "./support/temp.ts";

const world = realWorld(() => {});
const OLD = "old ".repeat(50_000);
const NEW = "new ".repeat(20_000);

describe("killed", () => {
  test.each([
    { fault: "kill@file:before-rename#1", holds: OLD },
    { fault: "kill@file:after-rename#1", holds: NEW },
  ])("at $fault", async ({ fault, holds }) => {
    await using temp = await tempDirectory();
    await writeFile(temp.at("f"), OLD);
    await using child = startChild("write", [temp.at("f"), NEW], { env: { HOLDFAST_FAULT: fault } });
    expect(await child.ended()).toBe("SIGKILL");
    expect(await readFile(temp.at("f"), "utf8")).toBe(holds);
  });

  test("at every point until a run gets through: old or new, never a mixture", async () => {
    const seen: (string | undefined)[] = [];
    for (let point = 1; seen.at(-1) !== "done"; point++) {
      await using temp = await tempDirectory();
      await writeFile(temp.at("f"), OLD);
      await using child = startChild("write", [temp.at("f"), NEW], { env: { HOLDFAST_FAULT: `kill@${point}` } });
      seen.push(await child.line());
      expect([OLD, NEW]).toContain(await readFile(temp.at("f"), "utf8"));
    }
    expect(seen.length).toBeGreaterThan(2);
  });
});

test("replaces the content, private, and leaves nothing else", async () => {
  await using temp = await tempDirectory();
  await writeFile(temp.at("f"), OLD, { mode: 0o644 });
  await writeWhole(world, temp.at("f"), new Uint8Array([0, 255]));
  expect(await readFile(temp.at("f"))).toEqual(Buffer.from([0, 255]));
  expect((await stat(temp.at("f"))).mode & 0o777).toBe(0o600);
  expect(await readdir(temp.path)).toEqual(["f"]);
});

test("a reader during many writes sees whole contents only", async () => {
  await using temp = await tempDirectory();
  await writeWhole(world, temp.at("f"), OLD);
  const writing = (async () => {
    for (let round = 0; round < 20; round++) await writeWhole(world, temp.at("f"), round % 2 === 0 ? NEW : OLD);
    return "written";
  })();
  for (let done = ""; done === ""; done = await Promise.race([writing, Promise.resolve("")])) {
    expect([OLD.length, NEW.length]).toContain((await readFile(temp.at("f"), "utf8")).length);
  }
});

test("refused by the file system: the system's error, nothing changed, nothing left", async () => {
  await using temp = await tempDirectory();
  await mkdir(temp.at("directory"));
  await expect(writeWhole(world, temp.at("directory"), "x")).rejects.toMatchObject({ code: "EISDIR" });
  await expect(writeWhole(world, temp.at("missing/f"), "x")).rejects.toMatchObject({ code: "ENOENT" });
  expect(await readdir(temp.path)).toEqual(["directory"]);
});

test("directories are private; an existing one keeps its mode", async () => {
  await using temp = await tempDirectory();
  await mkdir(temp.at("open"), { mode: 0o755 });
  await makePrivateDirectory(temp.at("open"));
  await makePrivateDirectory(temp.at("a/b"));
  const modes = ["open", "a", "a/b"].map(async (name) => (await stat(temp.at(name))).mode & 0o777);
  expect(await Promise.all(modes)).toEqual([0o755, 0o700, 0o700]);
  await expect(makePrivateDirectory(`${temp.at("open")}\0`)).rejects.toThrow();
});

test("syncing a directory that is not there is an error", async () => {
  await using temp = await tempDirectory();
  await expect(syncDirectory(temp.path)).resolves.toBeUndefined();
  await expect(syncDirectory(temp.at("missing"))).rejects.toMatchObject({ code: "ENOENT" });
});
