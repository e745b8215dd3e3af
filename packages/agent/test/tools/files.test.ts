/** append, move and delete: what they do, what they refuse, and what the files tell afterwards. */
import { chmod, mkdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { appendTool } from "../../src/tools/append.ts";
import { deleteTool, moveTool } from "../../src/tools/remove.ts";
import type { Tool } from "../../src/types.ts";
import { prepareTool, probeTool, runTool, temporaryWorkspace, type Workspace } from "../support/workspace.ts";

const TOOLS: Readonly<Record<string, { readonly tool: Tool; readonly args: Readonly<Record<string, string>> }>> = {
  append: { tool: appendTool(), args: { path: "a.txt", content: "二\n" } },
  delete: { tool: deleteTool(), args: { path: "a.txt" } },
  move: { tool: moveTool(), args: { from: "a.txt", to: "b/c.txt" } },
};

async function prepared(
  name: string,
): Promise<Workspace & { tool: Tool; args: Record<string, string>; evidence: Record<string, never> }> {
  const space = await temporaryWorkspace();
  await writeFile(space.inside("a.txt"), "一\n");
  const { tool, args } = TOOLS[name]!;
  const evidence = (await prepareTool(tool, args, space.context)) as Record<string, never>;
  return { ...space, tool, args: { ...args }, evidence };
}

describe.each(Object.keys(TOOLS))("%s", (name) => {
  test("before it ran: absent; after: happened; once more by somebody else in between: conflict", async () => {
    await using on = await prepared(name);
    const { tool, args, evidence, context } = on;
    expect(await probeTool(tool, args, evidence, context)).toMatchObject({ kind: "absent" });
    expect(await tool.run(args, evidence, context)).toMatchObject({ ok: true });
    expect(await probeTool(tool, args, evidence, context)).toMatchObject({ kind: "happened" });
    await writeFile(on.inside("a.txt"), "somebody else's");
    expect(await probeTool(tool, args, evidence, context)).toMatchObject({ kind: "conflict" });
  });

  test("touched since the evidence: not absent any more, and not done either", async () => {
    await using on = await prepared(name);
    const { tool, args, evidence, context } = on;
    await utimes(on.inside("a.txt"), new Date(1), new Date(1));
    expect(await probeTool(tool, args, evidence, context)).toMatchObject({ kind: "conflict" });
    if (name !== "append") expect(await tool.run(args, evidence, context)).toMatchObject({ ok: false });
  });

  test("a read-only file stays as it is", async () => {
    await using space = await temporaryWorkspace();
    await writeFile(space.inside("a.txt"), "一\n");
    await chmod(space.inside("a.txt"), 0o400);
    const { tool, args } = TOOLS[name]!;
    expect(await runTool(tool, args, space.context)).toMatchObject({
      ok: false,
      text: expect.stringContaining("read-only"),
    });
    expect(await readFile(space.inside("a.txt"), "utf8")).toBe("一\n");
  });

  test("outside the workspace nothing is done, and a crash right then is told as absent", async () => {
    await using space = await temporaryWorkspace();
    const { tool, args } = TOOLS[name]!;
    const out = Object.fromEntries(
      Object.entries(args).map(([key, value]) => [key, key === "content" ? value : "../x"]),
    );
    const evidence = await prepareTool(tool, out, space.context);
    expect(await tool.run(out, evidence, space.context)).toMatchObject({
      ok: false,
      text: expect.stringContaining("outside"),
    });
    expect(await probeTool(tool, out, evidence, space.context)).toMatchObject({ kind: "absent" });
  });
});

test("append makes a missing file and keeps what is there byte for byte", async () => {
  await using space = await temporaryWorkspace();
  await runTool(appendTool(), { path: "n/a.txt", content: "one\n" }, space.context);
  await runTool(appendTool(), { path: "n/a.txt", content: "two\n" }, space.context);
  expect(await readFile(space.inside("n", "a.txt"), "utf8")).toBe("one\ntwo\n");
});

test("move keeps the file's inode and never replaces another", async () => {
  await using space = await temporaryWorkspace();
  await writeFile(space.inside("a.txt"), "x");
  await mkdir(space.inside("b"));
  const before = await stat(space.inside("a.txt"));
  await runTool(moveTool(), { from: "a.txt", to: "b/c.txt" }, space.context);
  expect((await stat(space.inside("b", "c.txt"))).ino).toBe(before.ino);
  await writeFile(space.inside("a.txt"), "y");
  expect(await runTool(moveTool(), { from: "a.txt", to: "b/c.txt" }, space.context)).toMatchObject({ ok: false });
  expect(await readFile(space.inside("b", "c.txt"), "utf8")).toBe("x");
});

test("delete of what is not there is refused, directories stay", async () => {
  await using space = await temporaryWorkspace();
  await mkdir(space.inside("d"));
  expect(await runTool(deleteTool(), { path: "none" }, space.context)).toMatchObject({ ok: false });
  expect(await runTool(deleteTool(), { path: "d" }, space.context)).toMatchObject({ ok: false });
  expect(existsSync(space.inside("d"))).toBe(true);
});
