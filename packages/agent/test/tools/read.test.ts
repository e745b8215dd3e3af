import { writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { readTool } from "../../src/tools/read.ts";
import { runTool, temporaryWorkspace } from "../support/workspace.ts";

const tool = readTool();

describe("read", () => {
  test.each([
    ["whole", "一\ntwo\nthree\n", {}, "一\ntwo\nthree"],
    ["from a line", "1\n2\n3\n", { offset: 2 }, "2\n3"],
    ["some lines", "1\n2\n3\n4", { offset: 2, limit: 2 }, "2\n3\n(1 more lines; go on with offset 4)"],
    ["the last line without an end", "1\n2", { offset: 2, limit: 5 }, "2"],
    ["behind the end", "1\n2\n", { offset: 9 }, "(the file has 2 lines)"],
    ["an empty file", "", {}, "(the file is empty)"],
    ["blank lines", "\n\n", {}, "\n"],
  ])("%s", async (_name, content, more, text) => {
    await using space = await temporaryWorkspace();
    await writeFile(space.inside("a.txt"), content);
    expect(await runTool(tool, { path: "a.txt", ...more }, space.context)).toEqual({ ok: true, text });
  });

  test("too much is cut at a line's end and says how to go on", async () => {
    await using space = await temporaryWorkspace();
    await writeFile(space.inside("a.txt"), `${"x".repeat(999)}\n`.repeat(60));
    const { text } = await runTool(tool, { path: "a.txt" }, space.context);
    expect(text.length).toBeLessThan(50_100);
    expect(text).toMatch(/\n\(10 more lines; go on with offset 51\)$/);
  });

  test("one line that is too long is cut, and says so", async () => {
    await using space = await temporaryWorkspace();
    await writeFile(space.inside("a.txt"), "y".repeat(60_000));
    const { text } = await runTool(tool, { path: "a.txt" }, space.context);
    expect(text).toMatch(/^y{50000}\n\(cut here: the line has 10000 more characters\)$/);
  });

  test.each([
    ["missing", "missing.txt", /does not exist/],
    ["binary", "binary", /binary file of 3 bytes/],
    ["outside", "/etc/passwd", /outside/],
    ["directory", ".", /directory/],
  ])("refuses %s", async (_name, path, text) => {
    await using space = await temporaryWorkspace();
    await writeFile(space.inside("binary"), Buffer.from([1, 0, 2]));
    expect(await runTool(tool, { path }, space.context)).toMatchObject({
      ok: false,
      text: expect.stringMatching(text),
    });
  });

  test("damaged text is still text", async () => {
    await using space = await temporaryWorkspace();
    await writeFile(space.inside("a.txt"), Buffer.from([0x61, 0xff, 0x62]));
    expect(await runTool(tool, { path: "a.txt" }, space.context)).toEqual({ ok: true, text: "a\ufffdb" });
  });
});
