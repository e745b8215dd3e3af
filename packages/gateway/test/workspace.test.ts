/** Where workspaces are. */
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { workspaceOf } from "../src/workspace.ts";

test.each([
  [null, "main", true, "/home/workspace"],
  [null, "other", false, "/home/workspace-other"],
  ["~/notes", "main", true, join(homedir(), "notes")],
  ["/srv/notes", "main", true, "/srv/notes"],
  ["notes", "main", true, "/home/notes"],
])("%s of %s → %s", (workspace, id, isDefault, path) => {
  expect(workspaceOf("/home", { id, workspace }, isDefault)).toBe(path);
});
