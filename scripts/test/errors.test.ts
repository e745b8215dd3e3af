/** docs/errors.md and the packages' code tables hold the same codes, both ways, package by package. */
import { readFileSync } from "node:fs";
import { AGENT_ERRORS } from "@holdfast/agent";
import { BASE_ERRORS } from "@holdfast/base";
import { CLI_ERRORS } from "@holdfast/cli";
import { GATEWAY_ERRORS } from "@holdfast/gateway";
import { SESSION_ERRORS } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";

const TABLES = {
  base: BASE_ERRORS,
  sessions: SESSION_ERRORS,
  agent: AGENT_ERRORS,
  gateway: GATEWAY_ERRORS,
  cli: CLI_ERRORS,
};

const document = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8");
const sections = new Map(
  document
    .split(/^## /m)
    .slice(1)
    .map((section) => [section.slice(0, section.indexOf("\n")).trim(), section]),
);

function rowsOf(section: string): string[][] {
  const rows = section.split("\n").filter((line) => /^\| `\w+` \|/.test(line));
  return rows.map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
}

describe.each(Object.entries(TABLES))("%s", (name, table) => {
  const rows = rowsOf(sections.get(name) ?? "");

  test("the document and the code know the same codes", () => {
    expect(rows.map((cells) => cells[1]?.replaceAll("`", "")).toSorted()).toEqual(Object.keys(table).toSorted());
  });

  test("each row says what it means and what to do", () => {
    for (const cells of rows) expect(cells.slice(2, 4).every((cell) => cell.length > 5)).toBe(true);
  });
});
