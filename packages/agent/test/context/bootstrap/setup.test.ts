/** How long BOOTSTRAP.md is given. */
import { expect, test } from "vitest";
import { isSetUp, withoutOldSetup } from "../../../src/context/bootstrap/setup.ts";
import { workspaceTemplates } from "../../../src/context/bootstrap/templates.ts";

const found = (files: Readonly<Record<string, string>>) => ({
  files: Object.entries(files).map(([name, text]) => ({ name, text, bytes: 0, sha256: "", problem: null })),
  skills: [],
});
const fresh = workspaceTemplates("en");

test("a new workspace is not set up, in either language, with other rules or without some files", () => {
  expect(isSetUp(found(fresh))).toBe(false);
  expect(isSetUp(found(workspaceTemplates("zh")))).toBe(false);
  expect(isSetUp(found({ ...fresh, "AGENTS.md": "Own rules.", "TOOLS.md": "printer: 10.0.0.2" }))).toBe(false);
  expect(isSetUp(found({ "BOOTSTRAP.md": "Ask." }))).toBe(false);
});

test.each([
  ["USER.md", "I am Ana."],
  ["IDENTITY.md", "Name: Otto"],
  ["SOUL.md", "Be brief."],
  ["MEMORY.md", "x"],
  ["memory/2026-12-01.md", "x"],
])("%s shows that it is; the guide is not given any more, and stays", (name, text) => {
  const there = found({ ...fresh, [name]: text });
  expect(isSetUp(there)).toBe(true);
  expect(withoutOldSetup(there).files.map((file) => file.name)).not.toContain("BOOTSTRAP.md");
});

test("so does that the guide is gone", () => {
  const { "BOOTSTRAP.md": _, ...rest } = fresh;
  expect(isSetUp(found(rest))).toBe(true);
  expect(withoutOldSetup(found(fresh)).files).toHaveLength(7);
});
