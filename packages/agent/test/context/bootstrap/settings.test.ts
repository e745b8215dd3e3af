/** What holds where nothing is set. */
import { expect, test } from "vitest";
import { isTimezone } from "@holdfast/sessions";
import { defaultBootstrap } from "../../../src/context/bootstrap/settings.ts";

test("the limits and the kind of injection that docs/config.md names", () => {
  expect(defaultBootstrap()).toMatchObject({
    injection: "always",
    limits: { maxChars: 20_000, totalMaxChars: 60_000 },
    memory: { scope: "main", days: 2 },
  });
  expect(isTimezone(defaultBootstrap().timezone)).toBe(true);
});
