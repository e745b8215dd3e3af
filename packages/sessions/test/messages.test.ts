/** Sentences for people hold no unfilled place: every `{name}` of a code is given wherever the code is used. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SESSION_ERRORS, type SessionErrorCode } from "../src/errors.ts";

const SOURCES = fileURLToPath(new URL("../src", import.meta.url));
const RAISED = "new SessionError(";

/** The text between the bracket at `from` and the one that closes it. */
function inBrackets(text: string, from: number): string {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    if ("({".includes(text[at]!)) depth += 1;
    if (")}".includes(text[at]!)) depth -= 1;
    if (depth === 0) return text.slice(from + 1, at);
  }
  return text.slice(from + 1);
}

/** What stands in the brackets of each place that raises one. */
function raisings(source: string): string[] {
  const found: string[] = [];
  for (let at = source.indexOf(RAISED); at !== -1; at = source.indexOf(RAISED, at + 1))
    found.push(inBrackets(source, at + RAISED.length - 1));
  return found;
}

test("every place of a sentence is filled where its error is raised", async () => {
  const names = (await readdir(SOURCES, { recursive: true })).filter((name) => name.endsWith(".ts"));
  const unfilled: string[] = [];
  for (const name of names) {
    for (const raised of raisings(await readFile(join(SOURCES, name), "utf8"))) {
      const code = /^\s*"(\w+)"/.exec(raised)?.[1];
      if (code === undefined || raised.includes("...")) continue;
      const places = [...SESSION_ERRORS[code as SessionErrorCode].matchAll(/\{(\w+)\}/g)].map(([, place]) => place);
      const missing = places.filter((place) => !new RegExp(`\\b${place}\\b`).test(raised));
      unfilled.push(...missing.map((place) => `${name}: ${code} lacks ${place}`));
    }
  }
  expect(unfilled).toEqual([]);
});
