/** The head of a SKILL.md, as people write it. */
import { expect, test } from "vitest";
import { frontMatter } from "../../../src/context/bootstrap/front-matter.ts";

const read = (...lines: readonly string[]) => Object.fromEntries(frontMatter(lines.join("\n")));

test("plain, quoted and commented", () => {
  expect(
    read("---", "name: weather", 'description: "Say \\"rain\\" or not: always"', "---", "# Body", "name: no"),
  ).toEqual({
    name: "weather",
    description: 'Say "rain" or not: always',
  });
  expect(read("---", "name: 'it''s'", "description: now # a note", "---")).toEqual({
    name: "it's",
    description: "now",
  });
});

test("blocks and wrapped lines become one line", () => {
  expect(read("---", "description: >-", "  How it is", "", "  done.", "name: a", "---").description).toBe(
    "How it is done.",
  );
  expect(read("---", "description: |", "  One", "  two", "---").description).toBe("One two");
  expect(read("---", "description: One", "  two", "---").description).toBe("One two");
});

test("lists, maps and lines that are none of it are passed over", () => {
  expect(
    read("---", "tools: [a, b]", "metadata:", "  os: linux", "list:", "  - a", "?? odd", "name: x", "---"),
  ).toEqual({
    name: "x",
  });
});

test("without an opening, or without an end, there is nothing", () => {
  expect(read("name: x", "---")).toEqual({});
  expect(read("---", "name: x")).toEqual({});
  expect(read("")).toEqual({});
});

test("CRLF and a BOM do not matter", () => {
  expect(Object.fromEntries(frontMatter("\uFEFF---\r\nname: x\r\ndescription: 天气\r\n---\r\n"))).toEqual({
    name: "x",
    description: "天气",
  });
});
