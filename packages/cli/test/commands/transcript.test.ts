/** `holdfast transcript ...` on bare files: what it says, what it refuses, and that reading changes nothing. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli, temporaryDirectory } from "../support/cli.ts";

const TIME = "2026-06-21T13:01:34.832Z";
const HEADER = { type: "session", version: 3, id: "s1", timestamp: TIME, cwd: "/" };

function entry(id: string, parentId: string | null, text: string, role = "user"): Record<string, unknown> {
  return {
    type: "message",
    id,
    parentId,
    timestamp: TIME,
    message: { role, content: [{ type: "text", text }], timestamp: 1 },
  };
}

function textOf(...lines: readonly unknown[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** a1 ─ a2 ─ a3, and b2 beside a2: the leaf is b2. */
const TWO_BRANCHES = textOf(
  HEADER,
  entry("a1", null, "one"),
  entry("a2", "a1", "left"),
  entry("a3", "a2", "left on"),
  entry("b2", "a1", "right"),
);

async function fileWith(directory: string, text: string): Promise<string> {
  const file = join(directory, "t.jsonl");
  await writeFile(file, text);
  return file;
}

describe("verify", () => {
  test("a sound file is ok, exit 0, in the shape that is promised", async () => {
    await using directory = await temporaryDirectory();
    const file = await fileWith(directory.path, TWO_BRANCHES);
    const { code, stdout } = await runCli(["transcript", "verify", file, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      entries: 4,
      leaf: "b2",
      header: expect.anything(),
      damaged: [],
      gaps: [],
      duplicates: [],
      stale: [],
      openCalls: [],
    });
    expect(await readFile(file, "utf8")).toBe(TWO_BRANCHES);
  });

  test("damage is named by line, exit 3, and left as it is", async () => {
    await using directory = await temporaryDirectory();
    const damaged = `${textOf(HEADER, entry("a1", null, "one"))}{"type":"mess\n${textOf(entry("a2", "gone", "two"))}`;
    const file = await fileWith(directory.path, damaged);
    const { code, stdout } = await runCli(["transcript", "verify", file]);
    expect(code).toBe(3);
    expect(stdout).toMatch(/^damaged {2}/);
    expect(stdout).toMatch(/line 3 \(offset \d+, 13 bytes\)/);
    expect(stdout).toMatch(/a2 hangs on gone, which is not there; read after a1/);
    const report = JSON.parse((await runCli(["transcript", "verify", file, "--json"])).stdout);
    expect(report).toMatchObject({
      ok: false,
      damaged: [{ line: 3, bytes: 13 }],
      gaps: [{ id: "a2", parentId: "gone" }],
    });
    expect(await readFile(file, "utf8")).toBe(damaged);
  });
});

describe("what cannot be read", () => {
  test.each([["verify"], ["tree"], ["context"]])("%s: missing is exit 5, a directory exit 2", async (command) => {
    await using directory = await temporaryDirectory();
    await mkdir(join(directory.path, "d"));
    const missing = await runCli(["transcript", command, join(directory.path, "none.jsonl"), "--json"]);
    expect(missing.code).toBe(5);
    expect(JSON.parse(missing.stdout).error.code).toBe("file_missing");
    const folder = await runCli(["transcript", command, join(directory.path, "d"), "--json"]);
    expect(folder.code).toBe(2);
    expect(JSON.parse(folder.stdout).error.code).toBe("not_a_file");
  });

  test("another file is said to be none", async () => {
    await using directory = await temporaryDirectory();
    const file = await fileWith(directory.path, "# a shopping list\n\nmilk\n");
    const { code, stderr } = await runCli(["transcript", "verify", file]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/holds no transcript/);
  });
});

test("tree: the current branch goes straight down, the other stands beside it", async () => {
  await using directory = await temporaryDirectory();
  const file = await fileWith(directory.path, TWO_BRANCHES);
  expect((await runCli(["transcript", "tree", file])).stdout).toBe(
    ["● a1 user  one", "├─ ○ a2 user  left", "│  ○ a3 user  left on", "● b2 user  right  ← here", ""].join("\n"),
  );
  const { leaf, nodes } = JSON.parse((await runCli(["transcript", "tree", file, "--json"])).stdout);
  expect(leaf).toBe("b2");
  expect(nodes.map((node: { id: string; parentId: string }) => [node.id, node.parentId])).toEqual([
    ["a1", null],
    ["a2", "a1"],
    ["a3", "a2"],
    ["b2", "a1"],
  ]);
});

describe("context", () => {
  test("messages and report; limits and leaf are obeyed", async () => {
    await using directory = await temporaryDirectory();
    const file = await fileWith(directory.path, TWO_BRANCHES);
    const context = async (...more: readonly string[]) =>
      JSON.parse((await runCli(["transcript", "context", file, "--json", ...more])).stdout);
    const whole = await context();
    expect(whole.messages.map((message: { content: { text: string }[] }) => message.content[0]?.text)).toEqual([
      "one",
      "right",
    ]);
    expect(whole.report).toMatchObject({ leaf: "b2", messages: 2 });
    expect((await context("--leaf", "a3")).messages).toHaveLength(3);
    expect((await context("--max-messages", "1")).messages).toHaveLength(1);
  });

  test("an unknown leaf is exit 5", async () => {
    await using directory = await temporaryDirectory();
    const file = await fileWith(directory.path, TWO_BRANCHES);
    expect((await runCli(["transcript", "context", file, "--leaf", "zz"])).code).toBe(5);
  });
});

describe("branch", () => {
  test("the choice is on disk when it is reported", async () => {
    await using directory = await temporaryDirectory();
    const file = await fileWith(directory.path, TWO_BRANCHES);
    const { code, stdout } = await runCli(["transcript", "branch", file, "a3", "--json"]);
    expect(code).toBe(0);
    const { leaf, from, durable } = JSON.parse(stdout);
    expect({ from, durable }).toEqual({ from: "a3", durable: true });
    const last = JSON.parse((await readFile(file, "utf8")).trimEnd().split("\n").at(-1) ?? "");
    expect(last).toMatchObject({ type: "custom", customType: "holdfast:leaf", id: leaf, parentId: "a3" });
  });

  test("an unknown entry is exit 5 and leaves the file as it was", async () => {
    await using directory = await temporaryDirectory();
    const file = await fileWith(directory.path, TWO_BRANCHES);
    expect((await runCli(["transcript", "branch", file, "zz"])).code).toBe(5);
    expect(await readFile(file, "utf8")).toBe(TWO_BRANCHES);
  });
});
