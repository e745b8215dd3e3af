/** The system prompt. */
import { expect, test } from "vitest";
import { joinSections, systemSections } from "../../src/context/system-prompt.ts";

const tool = { name: "read", description: "Read a file.", parameters: { type: "object" } };
const parts = { agentId: "main", workspace: "/w", timezone: "Asia/Shanghai", tools: [tool], bootstrap: [] };

test("named sections, joined by empty lines, the workspace's own last", () => {
  const bootstrap = [{ name: "USER.md", text: "# USER.md\nI am Ana." }];
  const sections = systemSections({ ...parts, bootstrap });
  expect(sections.map(({ name }) => name)).toEqual(["Identity", "Workspace", "Tools", "Rules", "Messages", "USER.md"]);
  for (const { name, text } of sections) expect(text.startsWith(`# ${name}\n`)).toBe(true);
  expect(joinSections(sections)).toMatch(
    /^# Identity\n.*- read: Read a file\..*Asia\/Shanghai.*\n\n# USER\.md\nI am Ana\.$/s,
  );
  expect(joinSections(systemSections({ ...parts, tools: [] }))).toMatch(/You have no tools/);
});

test("half a character never leaves", () => {
  expect(joinSections([{ name: "a", text: "\ud83d" }])).toBe("\ufffd");
});
