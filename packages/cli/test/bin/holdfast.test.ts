/** The launcher: which Node runs the program, and that signals and exit codes pass through it. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { cleanEnv, finished, firstLine, temporaryDirectory } from "../support/cli.ts";

const BIN = fileURLToPath(new URL("../../bin/holdfast.js", import.meta.url));
const SYSTEM_NODE = "/usr/bin/node";

function isOld(node: string): boolean {
  if (!existsSync(node)) return false;
  const [major] = execFileSync(node, ["-p", "process.versions.node"], { encoding: "utf8" }).split(".");
  return Number(major) < 24;
}

/** A copy of the launcher with a program of the test's own beside it. */
async function withProgram(directory: string, source: string): Promise<string> {
  await mkdir(join(directory, "bin"));
  await mkdir(join(directory, "src"));
  await cp(BIN, join(directory, "bin", "holdfast.js"));
  await writeFile(join(directory, "package.json"), '{"type":"module"}');
  await writeFile(join(directory, "src", "main.ts"), source);
  return join(directory, "bin", "holdfast.js");
}

describe.skipIf(!isOld(SYSTEM_NODE))("started by an older system Node", () => {
  test("runs under the pinned one", async () => {
    const ran = await finished(spawn(SYSTEM_NODE, [BIN, "--version", "--json"], { env: cleanEnv() }));
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(ran.stdout).node).toMatch(/^2[4-9]\./);
  });

  test("says what is missing when there is none, and exits 78", async () => {
    await using directory = await temporaryDirectory();
    const bin = await withProgram(directory.path, "");
    const ran = await finished(spawn(SYSTEM_NODE, [bin], { env: cleanEnv() }));
    expect(ran.code).toBe(78);
    expect(ran.stderr).toMatch(/needs Node\.js 24\.15 or newer; this is v\d+.*is not installed/);
  });
});

describe("in between", () => {
  test("arguments and exit code pass through, and syncs get their threads", async () => {
    await using directory = await temporaryDirectory();
    const bin = await withProgram(
      directory.path,
      "console.log(JSON.stringify([process.argv.slice(2), process.env.UV_THREADPOOL_SIZE])); process.exitCode = 5;",
    );
    const ran = await finished(spawn(process.execPath, [bin, "a b", "--c"], { env: cleanEnv() }));
    expect(ran.code).toBe(5);
    expect(JSON.parse(ran.stdout)).toEqual([["a b", "--c"], "16"]);
  });

  test("a signal reaches the program, whose exit code comes back", async () => {
    await using directory = await temporaryDirectory();
    const source = 'process.on("SIGTERM", () => process.exit(7)); setInterval(() => {}, 1000); console.log("up");';
    const bin = await withProgram(directory.path, source);
    const child = spawn(process.execPath, [bin], { env: cleanEnv() });
    expect(await firstLine(child)).toBe("up");
    child.kill("SIGTERM");
    expect((await once(child, "exit"))[0]).toBe(7);
  });

  test("death by a signal is 128 + its number", async () => {
    await using directory = await temporaryDirectory();
    const bin = await withProgram(directory.path, 'process.kill(process.pid, "SIGKILL");');
    expect((await finished(spawn(process.execPath, [bin], { env: cleanEnv() }))).code).toBe(137);
  });
});
