/** The table of codes and the page that explains them are the same, both ways. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { SESSION_ERRORS, SessionError } from "../src/errors.ts";

test("docs/errors/sessions.md names exactly the codes of the table", async () => {
  const page = await readFile(new URL("../../../docs/errors/sessions.md", import.meta.url), "utf8");
  const rows = [...page.matchAll(/^\| (\w+) \| (.+) \| (.+) \|$/gm)].slice(1);
  expect(rows.map((row) => row[1])).toEqual(Object.keys(SESSION_ERRORS));
});

test("a message is filled from the details", () => {
  const error = new SessionError("entry_missing", { entry: "e1", session: "s1" });
  expect(error).toMatchObject({ code: "entry_missing", name: "SessionError", message: "There is no entry e1 in s1." });
});
