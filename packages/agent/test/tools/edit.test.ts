import { chmod, readFile, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { editTool } from "../../src/tools/edit.ts";
import { prepareTool, probeTool, runTool, temporaryWorkspace } from "../support/workspace.ts";

const tool = editTool();
const TEXT = "\ufeffone\r\ntwo $& three\r\n二\r\n";
const ARGS = { path: "a.txt", oldText: "two $& three", newText: "$1 $$ 贰" };

describe("edit", () => {
  test("replaces the passage and nothing else: no byte order mark, line end or $ is interpreted", async () => {
    await using space = await temporaryWorkspace();
    await writeFile(space.inside("a.txt"), TEXT);
    expect(await runTool(tool, ARGS, space.context)).toMatchObject({ ok: true });
    expect(await readFile(space.inside("a.txt"), "utf8")).toBe("\ufeffone\r\n$1 $$ 贰\r\n二\r\n");
  });

  test.each([
    ["a passage that is not there", { ...ARGS, oldText: "four" }, /is not in the file/],
    ["a passage that is there twice", { ...ARGS, oldText: "\r\n" }, /more than once/],
    ["a passage that overlaps itself", { path: "b.txt", oldText: "aa", newText: "b" }, /more than once/],
    ["a missing file", { ...ARGS, path: "missing.txt" }, /does not exist/],
    ["bytes that are not UTF-8", { path: "binary", oldText: "a", newText: "b" }, /not UTF-8/],
    ["a path outside", { ...ARGS, path: "../a.txt" }, /outside/],
    [
      "a read-only file",
      { path: "closed.txt", oldText: "a", newText: "b" },
      /permission denied: closed.txt is read-only/,
    ],
  ])("refuses %s and changes nothing", async (_name, args, text) => {
    await using space = await temporaryWorkspace();
    await writeFile(space.inside("a.txt"), TEXT);
    await writeFile(space.inside("b.txt"), "aaa");
    await writeFile(space.inside("binary"), Buffer.from([0x61, 0xff]));
    await writeFile(space.inside("closed.txt"), "a");
    await chmod(space.inside("closed.txt"), 0o444);
    expect(await runTool(tool, args, space.context)).toMatchObject({ ok: false, text: expect.stringMatching(text) });
    expect(await readFile(space.inside("a.txt"), "utf8")).toBe(TEXT);
    expect(await readFile(space.inside("closed.txt"), "utf8")).toBe("a");
  });

  test("a file that was changed after the evidence was taken is left alone", async () => {
    await using space = await temporaryWorkspace();
    await writeFile(space.inside("a.txt"), TEXT);
    const evidence = await prepareTool(tool, ARGS, space.context);
    await writeFile(space.inside("a.txt"), `${TEXT}more`);
    expect(await tool.run(ARGS, evidence, space.context)).toMatchObject({
      ok: false,
      text: expect.stringMatching(/by somebody else/),
    });
    expect(await readFile(space.inside("a.txt"), "utf8")).toBe(`${TEXT}more`);
  });

  test("an empty passage is no argument", () => expect(tool.check({ ...ARGS, oldText: "" })).toMatch(/oldText/));
});

describe("what the file says after a crash", () => {
  test.each([
    ["nobody edited", "absent"],
    ["it was edited", "happened"],
    ["somebody else wrote", "conflict"],
  ])("%s: %s", async (what, verdict) => {
    await using space = await temporaryWorkspace();
    await writeFile(space.inside("a.txt"), TEXT);
    const evidence = await prepareTool(tool, ARGS, space.context);
    if (verdict === "happened") await tool.run(ARGS, evidence, space.context);
    if (verdict === "conflict") await writeFile(space.inside("a.txt"), what);
    expect((await probeTool(tool, ARGS, evidence, space.context)).kind).toBe(verdict);
  });
});
