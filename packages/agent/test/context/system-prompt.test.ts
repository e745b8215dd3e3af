import { mkdir, symlink, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { systemPrompt } from "../../src/context/system-prompt.ts";
import { workspaceFiles } from "../../src/context/workspace-files.ts";
import { temporaryWorkspace } from "../support/workspace.ts";

test("named sections in a stable order", () => {
  const tool = { name: "read", description: "Read a file.", parameters: {} };
  const files = [{ name: "SOUL.md", text: "Be kind." }];
  const prompt = systemPrompt({ agentId: "main", workspace: "/w", tools: [tool], files });
  expect(prompt.match(/^# .*$/gm)).toEqual(["# Identity", "# Workspace", "# Tools", "# Rules", "# SOUL.md"]);
  expect(prompt).toMatch(/\/w[\s\S]*- read: Read a file\.[\s\S]*Be kind\./);
  expect(systemPrompt({ agentId: "main", workspace: "/w", tools: [], files: [] })).toMatch(/You have no tools/);
});

describe("workspace files", () => {
  test("those that are there, in order, cut where they are too long", async () => {
    await using space = await temporaryWorkspace();
    await writeFile(space.inside("MEMORY.md"), "x".repeat(20_001));
    await writeFile(space.inside("AGENTS.md"), "\nRules.\n");
    await writeFile(space.inside("USER.md"), "  \n");
    await writeFile(space.inside("OTHER.md"), "no");
    expect(await workspaceFiles(space.path)).toEqual([
      { name: "AGENTS.md", text: "Rules." },
      { name: "MEMORY.md", text: `${"x".repeat(20_000)}\n(cut here: 1 more characters; read MEMORY.md for the rest)` },
    ]);
  });

  test("a link, a directory and a missing workspace stop nothing", async () => {
    await using space = await temporaryWorkspace();
    await symlink("/etc/passwd", space.inside("SOUL.md"));
    await mkdir(space.inside("USER.md"));
    expect(await workspaceFiles(space.path)).toEqual([{ name: "SOUL.md", text: "(not read: it is a symbolic link)" }]);
    expect(await workspaceFiles(space.inside("missing"))).toEqual([]);
  });
});
