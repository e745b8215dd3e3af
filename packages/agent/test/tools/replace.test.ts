import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { realWorld } from "@holdfast/base";
import { expect, test } from "vitest";
import { replaceFile, scrapOf } from "../../src/tools/replace.ts";
import { temporaryWorkspace } from "../support/workspace.ts";

const bytes = new TextEncoder().encode("new");

test("a failure on the way leaves the old file and no scrap", async () => {
  const world = realWorld((point) => {
    if (point === "write:before-rename") throw new Error("no space");
  });
  await using space = await temporaryWorkspace({ world });
  await writeFile(space.inside("a.txt"), "old");
  const before = await stat(space.inside("a.txt"));
  await expect(replaceFile(space.inside("a.txt"), bytes, { context: space.context, before })).rejects.toThrow(
    "no space",
  );
  expect(await readdir(space.path)).toEqual(["a.txt"]);
  expect(await readFile(space.inside("a.txt"), "utf8")).toBe("old");
});

test("the scrap of an earlier attempt is in nobody's way", async () => {
  await using space = await temporaryWorkspace();
  await writeFile(scrapOf(space.inside("a.txt"), space.context.key), "half", { mode: 0o400 });
  await replaceFile(space.inside("a.txt"), bytes, { context: space.context, before: null });
  expect(await readdir(space.path)).toEqual(["a.txt"]);
});

test("a private file stays private at every moment", async () => {
  const modes: number[] = [];
  await using space = await temporaryWorkspace();
  const path = space.inside("a.txt");
  await writeFile(path, "old");
  await chmod(path, 0o600);
  const { statSync } = await import("node:fs");
  const world = realWorld((point) => {
    if (point === "write:before-rename") modes.push(statSync(scrapOf(path, space.context.key)).mode & 0o777);
  });
  await replaceFile(path, bytes, { context: { ...space.context, world }, before: await stat(path) });
  modes.push((await stat(path)).mode & 0o777);
  expect(modes).toEqual([0o600, 0o600]);
});

test("a long name still has room for its scrap", async () => {
  await using space = await temporaryWorkspace();
  const path = space.inside("字".repeat(80));
  await replaceFile(path, bytes, { context: space.context, before: null });
  expect(await readFile(path, "utf8")).toBe("new");
});
