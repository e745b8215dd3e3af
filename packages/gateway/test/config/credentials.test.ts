/** Secrets: private, kept, and never lost by writing one beside the others. */
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { realWorld } from "@holdfast/base";
import { expect, test } from "vitest";
import { checkText } from "../../src/config/check.ts";
import { gatewayToken, readCredentials } from "../../src/config/credentials.ts";
import { temporaryHome } from "../support/home.ts";

const world = realWorld();

test("the token is made once, in a private file, beside what is there", async () => {
  const home = await temporaryHome();
  const file = join(home, "credentials.json");
  writeFileSync(file, JSON.stringify({ apiKeys: { openai: "sk-1" }, other: true }), { mode: 0o600 });
  const token = await gatewayToken(home, await readCredentials(home), world);
  expect(token.length).toBeGreaterThanOrEqual(43);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
    apiKeys: { openai: "sk-1" },
    other: true,
    gatewayToken: token,
  });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await gatewayToken(home, await readCredentials(home), world)).toBe(token);
});

test("a file that others may read is tightened, and that is said", async () => {
  const home = await temporaryHome();
  const file = join(home, "credentials.json");
  writeFileSync(file, "{}");
  chmodSync(file, 0o644);
  expect(await readCredentials(home)).toMatchObject({ tightened: true });
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await readCredentials(home)).toMatchObject({ tightened: false });
});

test.each(["[]", "nonsense", '"text"'])("%s is credentials_invalid, and is left as it is", async (text) => {
  const home = await temporaryHome();
  writeFileSync(join(home, "credentials.json"), text);
  await expect(readCredentials(home)).rejects.toMatchObject({ code: "credentials_invalid" });
  expect(readFileSync(join(home, "credentials.json"), "utf8")).toBe(text);
});

test.each(["short", "with a space in it, long enough", "schlüssel-schlüssel-schlüssel", "x".repeat(513)])(
  "the token %s is refused and not repeated",
  async (token) => {
    const home = await temporaryHome();
    writeFileSync(join(home, "credentials.json"), JSON.stringify({ gatewayToken: token }));
    const refused = await readCredentials(home).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "credentials_invalid" });
    expect(String(refused)).not.toContain(token);
    const checked = checkText(JSON.stringify({ gateway: { auth: { token } } }), {});
    expect(checked).toMatchObject({ ok: false, problems: [{ path: "gateway.auth.token" }] });
    expect(JSON.stringify(checked)).not.toContain(token);
  },
);
