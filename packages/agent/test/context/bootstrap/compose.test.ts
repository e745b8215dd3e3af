/** From files to sections of the prompt, within limits. */
import { sha256 } from "@holdfast/base";
import { approximateTextTokens } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { compose, composeFor } from "../../../src/context/bootstrap/compose.ts";
import type { FoundFile } from "../../../src/context/bootstrap/files.ts";

const LIMITS = { maxChars: 20_000, totalMaxChars: 60_000 };
const file = (name: string, text: string, problem: string | null = null): FoundFile => ({
  name,
  text,
  bytes: Buffer.byteLength(text),
  sha256: sha256(text),
  problem,
});
const skill = (name: string, description = "") => ({ name, description, path: `skills/${name}/SKILL.md` });
const chars = (made: ReturnType<typeof compose>): number =>
  made.sections.reduce(
    (sum, { name, text }) => sum + (name.endsWith(".md") ? text.length - `# ${name}\n`.length : 0),
    0,
  );

test("files in order, skills before memory, empty ones left out", () => {
  const files = [
    file("AGENTS.md", "Rules."),
    file("USER.md", ""),
    file("MEMORY.md", "m"),
    file("memory/2026-12-01.md", "n"),
  ];
  const { sections, files: told } = compose({ files, skills: [skill("weather", "Rain."), skill("bare")] }, LIMITS);
  expect(sections.map(({ text }) => text)).toEqual([
    "# AGENTS.md\nRules.",
    "# Skills\nBefore a task that one of these describes, read its file and follow it:\n- weather (skills/weather/SKILL.md): Rain.\n- bare (skills/bare/SKILL.md)",
    "# MEMORY.md\nm",
    "# memory/2026-12-01.md\nn",
  ]);
  expect(told.map(({ name, bytes, chars: shown, cut }) => [name, bytes, shown, cut])).toEqual([
    ["AGENTS.md", 6, 6, null],
    ["MEMORY.md", 1, 1, null],
    ["memory/2026-12-01.md", 1, 1, null],
  ]);
});

test("a file that cannot be read says so in its place", () => {
  const { sections, files } = compose({ files: [file("SOUL.md", "", "EACCES")], skills: [] }, LIMITS);
  expect(sections).toEqual([{ name: "SOUL.md", text: "# SOUL.md\n(not read: EACCES)" }]);
  expect(files).toMatchObject([{ chars: 0, cut: "EACCES" }]);
});

describe("limits", () => {
  const long = (name: string, count: number): FoundFile =>
    file(name, Array.from({ length: count / 10 }, (_, at) => `${at}`.padStart(9, "x")).join("\n"));

  test("of one file: head and tail, and how to read the rest", () => {
    const made = compose({ files: [long("MEMORY.md", 50_000)], skills: [] }, LIMITS);
    expect(chars(made)).toBeLessThanOrEqual(20_000);
    expect(chars(made)).toBeGreaterThan(19_900);
    expect(made.sections[0]?.text).toMatch(/read MEMORY\.md with offset \d+ for them/);
    expect(made.files[0]?.cut).toMatch(/^\d+ of 49999 characters left out$/);
  });

  test("of all: the first ones whole, one cut, the others named", () => {
    const names = ["AGENTS.md", "SOUL.md", "TOOLS.md", "USER.md", "MEMORY.md"];
    const made = compose({ files: names.map((name) => long(name, 15_000)), skills: [skill("a")] }, LIMITS);
    expect(chars(made)).toBeLessThanOrEqual(60_000);
    expect(made.files.map(({ cut }) => cut)).toEqual([
      null,
      null,
      null,
      null,
      expect.stringMatching(/room|characters/),
    ]);
    expect(made.sections.at(-1)).toEqual({
      name: "Not shown",
      text: "# Not shown\nFor lack of room: MEMORY.md. Read them when they may matter.",
    });
  });

  test("of skills: as many as there is room for, and how many more there are", () => {
    const skills = Array.from({ length: 300 }, (_, at) => skill(`s${at}`, "d".repeat(2_000)));
    const [section] = compose({ files: [], skills }, LIMITS).sections;
    expect(section!.text.length).toBeLessThanOrEqual(20_000);
    const shown = section!.text.match(/^- s\d+/gm)!.length;
    expect(section!.text).toContain(`(and ${300 - shown} more in skills/)`);
    expect(Math.max(...section!.text.split("\n").map((line) => line.length))).toBeLessThan(550);
  });
});

test.each([
  ["English", "Facts that are worth a line of their own.\n", 4_096],
  ["Chinese", "值得单独写一行的事实。\n", 4_096],
  ["English", "Facts that are worth a line of their own.\n", 8_192],
])("in a small window files leave room for the conversation: %s", (_language, line, window) => {
  const files = ["AGENTS.md", "MEMORY.md"].map((name) => file(name, line.repeat(700).trimEnd()));
  const made = composeFor({ files, skills: [] }, LIMITS, window);
  const tokens = approximateTextTokens(made.sections.map(({ text }) => text).join("\n\n"));
  expect(tokens).toBeLessThan(window * 0.4);
  expect(tokens).toBeGreaterThan(window * 0.25);
  expect(made.isSqueezed).toBe(true);
  expect(composeFor({ files, skills: [] }, LIMITS, 200_000)).toEqual(compose({ files, skills: [] }, LIMITS));
});

test("the hash is that of the bytes", () => {
  const once = compose({ files: [file("AGENTS.md", "a")], skills: [] }, LIMITS);
  expect(compose({ files: [file("AGENTS.md", "a")], skills: [] }, { ...LIMITS, maxChars: 5 }).hash).toBe(once.hash);
  expect(compose({ files: [file("AGENTS.md", "b")], skills: [] }, LIMITS).hash).not.toBe(once.hash);
  expect(compose({ files: [file("AGENTS.md", "a")], skills: [skill("new")] }, LIMITS).hash).not.toBe(once.hash);
});
