import { chmod, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { sha256 } from "@holdfast/base";
import { describe, expect, test } from "vitest";
import { writeTool } from "../../src/tools/write.ts";
import { prepareTool, probeTool, runTool, temporaryWorkspace, type Workspace } from "../support/workspace.ts";

const tool = writeTool();
const ARGS = { path: "notes/todo.md", content: "1. 写周报\n" };

describe("write", () => {
  test("creates parents, leaves exactly the content and no scrap", async () => {
    await using space = await temporaryWorkspace();
    const outcome = await runTool(tool, ARGS, space.context);
    expect(outcome).toEqual({ ok: true, text: "Wrote 13 bytes to notes/todo.md." });
    expect(await readFile(space.inside("notes", "todo.md"), "utf8")).toBe(ARGS.content);
    expect(await readdir(space.inside("notes"))).toEqual(["todo.md"]);
  });

  test("replaces a file by a new one that keeps its mode", async () => {
    await using space = await temporaryWorkspace();
    await writeFile(space.inside("run.sh"), "old");
    await chmod(space.inside("run.sh"), 0o750);
    const before = await stat(space.inside("run.sh"));
    await runTool(tool, { path: "run.sh", content: "new" }, space.context);
    const after = await stat(space.inside("run.sh"));
    expect(after.mode).toBe(before.mode);
    expect(after.ino).not.toBe(before.ino);
  });

  test("writes through a link that stays inside, and the link stays a link", async () => {
    await using space = await temporaryWorkspace();
    await writeFile(space.inside("real.txt"), "old");
    await symlink("real.txt", space.inside("link.txt"));
    await runTool(tool, { path: "link.txt", content: "new" }, space.context);
    expect(await readFile(space.inside("real.txt"), "utf8")).toBe("new");
    expect((await readdir(space.path, { withFileTypes: true })).map((one) => one.isSymbolicLink())).toContain(true);
  });

  test("half characters become U+FFFD and the plan is made from the same bytes", async () => {
    await using space = await temporaryWorkspace();
    const args = { path: "a.txt", content: "x\ud83d" };
    const evidence = await prepareTool(tool, args, space.context);
    await runTool(tool, args, space.context);
    expect(sha256(await readFile(space.inside("a.txt")))).toBe(evidence.planned);
  });

  test.each([
    ["outside", { path: "../x", content: "x" }, /outside the workspace/],
    ["a directory", { path: "notes", content: "x" }, /directory/],
    ["read-only directory", { path: "closed/x", content: "x" }, /permission denied: closed\/ is read-only/],
    ["read-only file", { path: "closed.txt", content: "x" }, /permission denied: closed.txt is read-only/],
  ])("refuses %s and changes nothing", async (_name, args, text) => {
    await using space = await temporaryWorkspace();
    await mkdir(space.inside("notes"));
    await mkdir(space.inside("closed"));
    await writeFile(space.inside("closed.txt"), "kept", { mode: 0o444 });
    await chmod(space.inside("closed"), 0o500);
    const before = await readdir(space.root, { recursive: true });
    const outcome = await runTool(tool, args, space.context);
    expect(outcome).toMatchObject({ ok: false, text: expect.stringMatching(text) });
    expect(await readdir(space.root, { recursive: true })).toEqual(before);
    expect(await readFile(space.inside("closed.txt"), "utf8")).toBe("kept");
    await chmod(space.inside("closed"), 0o700);
  });

  test.each([
    [{ path: "a" }, /content/],
    [{ content: "a" }, /path/],
    [{ path: 1, content: "a" }, /path/],
    [{ path: "a", content: "a", mode: 1 }, /mode/],
  ])("does not accept the arguments %j", (args, text) => expect(tool.check(args)).toMatch(text));

  test("tells the model its arguments as JSON Schema", () => {
    expect(tool.spec.parameters).toMatchObject({
      type: "object",
      required: ["path", "content"],
      additionalProperties: false,
    });
  });
});

describe("what the file says after a crash", () => {
  const before = async (space: Workspace, content: string | null): Promise<void> => {
    await mkdir(space.inside("notes"));
    if (content !== null) await writeFile(space.inside("notes", "todo.md"), content);
  };
  const cases: readonly (readonly [string, string | null, (space: Workspace) => Promise<unknown>, string])[] = [
    ["nothing, nobody wrote", null, async () => {}, "absent"],
    ["an old file, nobody wrote", "old", async () => {}, "absent"],
    ["it was written", null, (space) => runTool(tool, ARGS, space.context), "happened"],
    ["it was written over an old file", "old", (space) => runTool(tool, ARGS, space.context), "happened"],
    ["something else was written", null, (space) => writeFile(space.inside("notes", "todo.md"), "other"), "conflict"],
    ["the old file was changed", "old", (space) => writeFile(space.inside("notes", "todo.md"), "other"), "conflict"],
    ["the old file was touched", "old", (space) => utimes(space.inside("notes", "todo.md"), 1, 1), "conflict"],
    [
      "the old file was replaced by its twin",
      "old",
      (space) => runTool(tool, { ...ARGS, content: "old" }, space.context),
      "conflict",
    ],
    [
      "a person wrote the very same",
      null,
      (space) => writeFile(space.inside("notes", "todo.md"), ARGS.content),
      "happened",
    ],
  ];
  test.each(cases)("%s", async (_name, old, meanwhile, verdict) => {
    await using space = await temporaryWorkspace();
    await before(space, old);
    const evidence = await prepareTool(tool, ARGS, space.context);
    await meanwhile(space);
    const probe = await probeTool(tool, ARGS, JSON.parse(JSON.stringify(evidence)), space.context);
    expect(probe.kind).toBe(verdict);
    expect(probe).toMatchObject({ evidence: { planned: sha256(ARGS.content) } });
  });

  test("the old file was deleted: a conflict that says so", async () => {
    await using space = await temporaryWorkspace();
    await before(space, "old");
    const evidence = await prepareTool(tool, ARGS, space.context);
    const { rm } = await import("node:fs/promises");
    await rm(space.inside("notes", "todo.md"));
    expect(await probeTool(tool, ARGS, evidence, space.context)).toMatchObject({
      kind: "conflict",
      says: expect.stringMatching(/is gone/),
    });
  });

  test("a scrap of the interrupted attempt is removed and no evidence of anything", async () => {
    await using space = await temporaryWorkspace();
    await before(space, null);
    const evidence = await prepareTool(tool, ARGS, space.context);
    await writeFile(space.inside("notes", ".holdfast-0123456789abcdef.tmp"), "half");
    expect((await probeTool(tool, ARGS, evidence, space.context)).kind).toBe("absent");
    expect(await readdir(space.inside("notes"))).toEqual([]);
  });

  test("a path that leads out of the workspace by now is unknown", async () => {
    await using space = await temporaryWorkspace();
    const evidence = await prepareTool(tool, ARGS, space.context);
    await symlink("/", space.inside("notes"));
    expect((await probeTool(tool, ARGS, evidence, space.context)).kind).toBe("unknown");
  });

  test("a call that was refused from the start is absent", async () => {
    await using space = await temporaryWorkspace();
    const args = { path: "../x", content: "x" };
    const evidence = await prepareTool(tool, args, space.context);
    expect((await probeTool(tool, args, evidence, space.context)).kind).toBe("absent");
  });
});
