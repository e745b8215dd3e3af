/** docs/config.md is what the schema says. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { configDocument } from "../../src/config/document.ts";

const FILE = new URL("../../../../docs/config.md", import.meta.url);

test("docs/config.md is up to date (HOLDFAST_UPDATE_DOCS=1 rewrites it)", () => {
  if (process.env.HOLDFAST_UPDATE_DOCS === "1") writeFileSync(FILE, configDocument());
  expect(readFileSync(FILE, "utf8")).toBe(configDocument());
});

test("every setting of the default configuration is a row", () => {
  for (const key of ["gateway.port", "agents.defaults.tools.approve", "sessions.writeLock.staleMs", "lanes.dedupeFor"])
    expect(configDocument()).toContain(`| \`${key}\` |`);
});
