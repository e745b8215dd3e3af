/** What a new workspace begins with. */
import { expect, test } from "vitest";
import { FILES_OF } from "../../../src/context/bootstrap/kinds.ts";
import { isTemplate, workspaceTemplates } from "../../../src/context/bootstrap/templates.ts";

test.each(["en", "zh"] as const)("%s: every file but MEMORY.md, each short, in one language", (language) => {
  const files = workspaceTemplates(language);
  expect(Object.keys(files)).toEqual(FILES_OF.main);
  for (const text of Object.values(files)) {
    expect(text).toMatch(/^# .*\n\n[\s\S]*[^\n]\n$/);
    expect(text.length).toBeLessThan(3_000);
    expect(/\p{Script=Han}/u.test(text)).toBe(language === "zh");
  }
  expect(files["AGENTS.md"]).toContain("memory/YYYY-MM-DD.md");
  expect(files["AGENTS.md"]).toContain("MEMORY.md");
});

test("a template is known as one, under its own name and until it is changed", () => {
  expect(isTemplate("USER.md", workspaceTemplates("zh")["USER.md"]!.trimEnd())).toBe(true);
  expect(isTemplate("SOUL.md", workspaceTemplates("zh")["USER.md"]!)).toBe(false);
  expect(isTemplate("USER.md", `${workspaceTemplates("en")["USER.md"]}Ana`)).toBe(false);
  expect(isTemplate("OTHER.md", "")).toBe(false);
});
