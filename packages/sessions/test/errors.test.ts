/** Messages are filled from details; that docs/errors.md names every code is tested in scripts/test/errors.test.ts. */
import { expect, test } from "vitest";
import { SessionError } from "../src/errors.ts";

test("a message is filled from the details", () => {
  const error = new SessionError("entry_missing", { entry: "e1", session: "s1" });
  expect(error).toMatchObject({ code: "entry_missing", name: "SessionError", message: "There is no entry e1 in s1." });
});
