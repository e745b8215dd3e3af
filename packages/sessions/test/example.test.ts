/** The example in the documentation runs, remembers, and needs nothing but this package. */
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { runChild } from "./support/child.ts";
import { testDirectory } from "./support/directories.ts";

const EXAMPLE = "../../../../examples/remember.ts";

test("examples/remember.ts", async () => {
  await using directory = await testDirectory();
  const first = await runChild(EXAMPLE, [directory.path, "buy milk"]);
  const second = await runChild(EXAMPLE, [directory.path, "and bread"]);
  expect([first.stderr, second.stderr]).toEqual(["", ""]);
  expect(first.lines[0]).toMatch(/^new conversation, entry \w+, durable: true$/);
  expect(second.lines.slice(1)).toEqual(["user: buy milk", "user: and bread"]);
  const source = await readFile(fileURLToPath(new URL(EXAMPLE, new URL("support/", import.meta.url))), "utf8");
  expect(source.match(/from "([^"]+)"/g)).toEqual(['from "@holdfast/sessions"']);
});
