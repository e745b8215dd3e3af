/** `chat` on a real terminal, as far as util-linux's `script` gives one. The rest of it is in gateway.test.ts. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { cleanEnv, MAIN, runCli, temporaryDirectory } from "../support/cli.ts";

vi.setConfig({ testTimeout: 120_000 });
const SCRIPT = "/usr/bin/script";

test.runIf(process.platform === "linux" && existsSync(SCRIPT)).each([
  ["while it waits", "", /> /],
  ["during an answer", "hello\r", /\(left[^)]*\)/],
])("Ctrl-C %s leaves at once, quietly, and the home is free", async (_when, typed, shows) => {
  await using directory = await temporaryDirectory();
  const home = join(directory.path, "home");
  const command = `"${process.execPath}" --conditions=holdfast-src "${MAIN}" chat --home "${home}"`;
  const child = spawn(SCRIPT, ["-qec", command, "/dev/null"], { env: cleanEnv() });
  const shown = { text: "" };
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const wasReady = shown.text.includes("> ");
    shown.text += text;
    if (!wasReady && shown.text.includes("> ")) child.stdin.write(`${typed}\u0003`);
  });
  const ending = new Promise<number | null>((resolve) => child.on("close", resolve));
  expect(await ending).toBe(0);
  expect(shown.text).toMatch(shows);
  expect(shown.text).not.toMatch(/error|readline/);
  expect((await runCli(["send", "--session", "main", "hi", "--home", home])).code).toBe(0);
});
