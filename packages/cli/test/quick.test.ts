/** The fast way is taken for exactly one command; everything else goes the ordinary way. */
import { expect, test } from "vitest";
import { quickSessionList } from "../src/quick.ts";

test.each([
  [["session", "list"], { json: false, home: undefined, agent: undefined }],
  [["sessions", "list", "--json"], { json: true, home: undefined, agent: undefined }],
  [["--home", "/h", "session", "list"], { json: false, home: "/h", agent: undefined }],
  [["session", "--agent", "a", "list", "--home", "/h"], { json: false, home: "/h", agent: "a" }],
])("%j is recognised", (argv, options) => expect(quickSessionList(argv)).toEqual(options));

test.each([
  [[]],
  [["session"]],
  [["session", "show"]],
  [["session", "list", "extra"]],
  [["session", "list", "--help"]],
  [["session", "list", "--jsn"]],
  [["session", "list", "--home"]],
  [["session", "list", "--home", "--json"]],
  [["session", "list", "--home=/h"]],
  [["list", "session"]],
])("%j is left to the parser", (argv) => expect(quickSessionList(argv)).toBeUndefined());
