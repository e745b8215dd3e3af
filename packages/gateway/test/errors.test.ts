/** Codes, statuses and the documented table agree. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { GATEWAY_ERRORS, GatewayError, STATUS } from "../src/errors.ts";

const DOCS = new URL("../../../docs/errors.md", import.meta.url);

test("every code is documented, with what to do", () => {
  const text = readFileSync(DOCS, "utf8");
  for (const code of Object.keys(GATEWAY_ERRORS)) expect(text).toMatch(new RegExp(`\\| \`${code}\` \\| .+ \\| .+ \\|`));
});

test("every status belongs to a code", () => {
  for (const code of Object.keys(STATUS)) expect(Object.keys(GATEWAY_ERRORS)).toContain(code);
});

test("a message names its details", () => {
  const error = new GatewayError("http_unavailable", { host: "127.0.0.1", port: 1, why: "the port is taken" });
  expect(error.message).toBe("Cannot listen on 127.0.0.1:1: the port is taken.");
});
