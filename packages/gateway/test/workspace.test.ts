/** Where workspaces are. */
import { homedir } from "node:os";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { exampleNotes, makeWorkspace, workspaceFlaw, workspaceOf } from "../src/workspace.ts";
import { checkConfig } from "../src/config/load.ts";
import { temporaryHome } from "./support/home.ts";

test.each([
  [null, "main", true, "/home/workspace"],
  [null, "other", false, "/home/workspace-other"],
  ["~/notes", "main", true, join(homedir(), "notes")],
  ["/srv/notes", "main", true, "/srv/notes"],
  ["notes", "main", true, "/home/notes"],
])("%s of %s → %s", (workspace, id, isDefault, path) => {
  expect(workspaceOf("/home", { id, workspace }, isDefault)).toBe(path);
});

test.each([
  [{}, "Meeting notes", "待办"],
  [{ LANG: "en_US.UTF-8" }, "Meeting notes", "待办"],
  [{ LANG: "zh_CN.UTF-8" }, "会议纪要", "[ ]"],
  [{ LC_ALL: "C", LANG: "zh_CN.UTF-8" }, "Meeting notes", "待办"],
])("with %j the example is in one language: %s", (env, heading, other) => {
  expect(exampleNotes(env)).toContain(heading);
  expect(exampleNotes(env)).not.toContain(other);
});

test("a workspace may not hold the home, nor lie among its own files, whatever links it is reached by", async () => {
  const home = await temporaryHome();
  mkdirSync(join(home, "workspace"));
  symlinkSync(home, join(home, "workspace", "link"));
  for (const bad of [
    home,
    dirname(home),
    "/",
    join(home, "agents"),
    join(home, "actions", "new"),
    join(home, "workspace", "link"),
  ])
    expect([bad, workspaceFlaw(home, bad)]).toEqual([bad, expect.stringContaining("own files")]);
  for (const good of [join(home, "workspace"), join(home, "notes"), `${home}-notes`, join(home, "agents-notes")])
    expect([good, workspaceFlaw(home, good)]).toEqual([good, null]);
  await expect(makeWorkspace(home, home)).rejects.toMatchObject({ code: "workspace_unusable" });
});

test("the check of the configuration says so, with the line", async () => {
  const home = await temporaryHome();
  writeFileSync(join(home, "holdfast.json"), '{ agents: { list: [{ id: "a" },\n { id: "b",\n workspace: "." }] } }');
  expect(await checkConfig(home)).toMatchObject({ problems: [{ path: "agents.list[1].workspace", line: 3 }] });
  writeFileSync(join(home, "holdfast.json"), '{ agents: {\n defaults: { workspace: "/" } } }');
  expect(await checkConfig(home)).toMatchObject({ problems: [{ path: "agents.defaults.workspace", line: 2 }] });
});
