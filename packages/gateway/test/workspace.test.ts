/** Where workspaces are. */
import { homedir } from "node:os";
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { makeWorkspace, newFiles, workspaceFlaw, workspaceOf } from "../src/workspace.ts";
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
])("with %j the first files are in one language: %s", (env, heading, other) => {
  expect(newFiles(env)["notes/meeting.md"]).toContain(heading);
  expect(newFiles(env)["notes/meeting.md"]).not.toContain(other);
  expect(/\p{Script=Han}/u.test(newFiles(env)["AGENTS.md"] ?? "")).toBe(heading === "会议纪要");
});

const NEW = ["AGENTS.md", "BOOTSTRAP.md", "HEARTBEAT.md", "IDENTITY.md", "SOUL.md", "TOOLS.md", "USER.md", "notes"];

test("a new workspace gets its first files, private, an empty one all but the example; later starts change nothing", async () => {
  const home = await temporaryHome();
  const path = join(home, "workspace");
  await makeWorkspace(home, path, {});
  expect(readdirSync(path).sort()).toEqual(NEW);
  expect([statSync(path).mode & 0o777, statSync(join(path, "AGENTS.md")).mode & 0o777]).toEqual([0o700, 0o600]);
  writeFileSync(join(path, "SOUL.md"), "mine");
  rmSync(join(path, "BOOTSTRAP.md"));
  await makeWorkspace(home, path, {});
  expect(readFileSync(join(path, "SOUL.md"), "utf8")).toBe("mine");
  expect(readdirSync(path)).not.toContain("BOOTSTRAP.md");
  mkdirSync(join(home, "empty"));
  await makeWorkspace(home, join(home, "empty"), { LANG: "zh_CN.UTF-8" });
  expect(readFileSync(join(home, "empty", "AGENTS.md"), "utf8")).toMatch(/记/);
  expect(readdirSync(join(home, "empty")).sort()).toEqual(NEW.filter((name) => name !== "notes"));
});

test("a folder that has something in it stays as it is", async () => {
  const home = await temporaryHome();
  mkdirSync(join(home, "project"));
  writeFileSync(join(home, "project", "main.c"), "int x;");
  await makeWorkspace(home, join(home, "project"), {});
  expect(readdirSync(join(home, "project"))).toEqual(["main.c"]);
});

test("what a kill left half furnished is finished, without overwriting", async () => {
  const home = await temporaryHome();
  const path = join(home, "workspace");
  mkdirSync(path);
  writeFileSync(join(path, ".holdfast-new"), "");
  writeFileSync(join(path, "AGENTS.md"), "mine");
  await makeWorkspace(home, path, {});
  expect(readdirSync(path).sort()).toEqual(NEW.filter((name) => name !== "notes"));
  expect(readFileSync(join(path, "AGENTS.md"), "utf8")).toBe("mine");
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
