import { expect, test } from "vitest";
import { safeLink } from "../../src/view/links.ts";

test.each(["https://example.org/a?b#c", "http://localhost:4653/", "mailto:anna@example.org"])(
  "%s is a link",
  (address) => {
    expect(safeLink(address)).toBe(address);
  },
);

test.each([
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  " java\tscript:alert(1)",
  "data:text/html,<script>1</script>",
  "vbscript:x",
  "file:///etc/passwd",
  "blob:https://example.org/x",
  "/signin?token=x",
  "//example.org",
  "",
])("%j is not", (address) => {
  expect(safeLink(address)).toBe("");
});
