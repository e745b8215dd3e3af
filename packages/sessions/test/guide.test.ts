/** The guide's programs are the files of examples/sessions, and print what the guide says. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { testDirectory } from "./support/directories.ts";

const EXAMPLES = fileURLToPath(new URL("../../../examples/sessions", import.meta.url));
const GUIDE = readFileSync(new URL("../../../docs/guide/sessions.md", import.meta.url), "utf8");
const BLOCK =
  /^\[([\w-]+\.ts)\]\(\.\.\/\.\.\/examples\/sessions\/\1\):\n\n```ts\n(.*?)^```\n\nprints\n\n```text\n(.*?)^```$/gms;
const shown = [...GUIDE.matchAll(BLOCK)].map(([, name = "", source = "", printed = ""]) => ({ name, source, printed }));

test("every program of the guide is a file, and every file is in the guide", () => {
  expect(shown.map(({ name }) => name).toSorted()).toEqual(readdirSync(EXAMPLES).toSorted());
  expect(GUIDE.match(/^```ts$/gm)).toHaveLength(shown.length);
});

test.concurrent.each(shown)("$name is what the guide shows, and prints it", async ({ name, source, printed }) => {
  const file = join(EXAMPLES, name);
  expect(source).toBe(readFileSync(file, "utf8"));
  await using directory = await testDirectory();
  const run = promisify(execFile)(process.execPath, ["--conditions=holdfast-src", file], { cwd: directory.path });
  expect(await run).toEqual({ stdout: printed, stderr: "" });
});
