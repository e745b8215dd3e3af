/** What the documents name exists: files behind links, and in PATH.md the functions that the links speak of. */
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const DOCUMENTS = globSync(["*.md", "docs/**/*.md", "bench/*.md", "examples/*.md"], { cwd: root });

interface Link {
  readonly text: string;
  /** From the root. */
  readonly target: string;
}

function linksOf(document: string): Link[] {
  const prose = readFileSync(join(root, document), "utf8").replaceAll(/^```.*?^```/gms, "");
  return [...prose.matchAll(/\[([^\]]+)\]\(([^)#\s]+)[^)]*\)/g)]
    .map((match) => ({ text: match[1]!, target: match[2]! }))
    .filter(({ target }) => !/^[a-z]+:/.test(target))
    .map(({ text, target }) => ({ text, target: join(dirname(document), target) }));
}

describe.each(DOCUMENTS)("%s", (document) => {
  test("links lead to files that are there", () => {
    expect(linksOf(document).filter(({ target }) => !existsSync(join(root, target)))).toEqual([]);
  });
});

test("PATH.md links files and the functions in them", () => {
  const links = linksOf("PATH.md").filter(({ target }) => target.endsWith(".ts"));
  expect(links.length).toBeGreaterThan(10);
  const missing = links.filter(({ text, target }) => {
    const name = /^`(\w+)`$/.exec(text)?.[1];
    const source = readFileSync(join(root, target), "utf8");
    return name !== undefined && !new RegExp(`^export .*\\b${name}\\b`, "m").test(source);
  });
  expect(missing).toEqual([]);
});
