/** The file itself: missing, in the way, unreadable, broken. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { temporaryHome } from "../support/home.ts";

test("a missing file means the defaults", async () => {
  const config = await loadConfig(await temporaryHome(), {});
  expect(config.gateway).toEqual({ host: "127.0.0.1", port: 4653, auth: { token: null } });
  expect(config.agents.list).toMatchObject([{ id: "main", default: true, timeout: 600_000 }]);
});

test("a home that does not exist means the defaults", async () => {
  await expect(loadConfig(join(await temporaryHome(), "none"), {})).resolves.toMatchObject({ lanes: { main: 4 } });
});

test("a directory in its place is a clear error", async () => {
  const home = await temporaryHome();
  mkdirSync(join(home, "holdfast.json"));
  await expect(loadConfig(home, {})).rejects.toMatchObject({
    code: "config_unreadable",
    message: expect.stringContaining("it is a directory"),
  });
});

test("a pipe in its place is a clear error, not waited for", async () => {
  const home = await temporaryHome();
  execFileSync("mkfifo", [join(home, "holdfast.json")]);
  const message = expect.stringContaining("is a pipe");
  await expect(loadConfig(home, {})).rejects.toMatchObject({ code: "config_unreadable", message });
});

test.skipIf(process.getuid?.() === 0)("an unreadable file is a clear error", async () => {
  const home = await temporaryHome();
  writeFileSync(join(home, "holdfast.json"), "{}");
  chmodSync(join(home, "holdfast.json"), 0);
  await expect(loadConfig(home, {})).rejects.toMatchObject({ code: "config_unreadable" });
});

test("a broken one lists every problem with file, line and key", async () => {
  const home = await temporaryHome();
  writeFileSync(join(home, "holdfast.json"), "{\n gateway: { prot: 1 },\n lanes: { main: 0 } }");
  const failed = loadConfig(home, {});
  await expect(failed).rejects.toMatchObject({ code: "config_invalid", details: { count: 2 } });
  await expect(failed).rejects.toThrow(/holdfast\.json has 2 problem[\s\S]*line 2: gateway\.prot: .*`port`/);
  await expect(failed).rejects.toThrow(/line 3: lanes\.main/);
});
