/** The command line as a shell sees it: what it understands, what it refuses, and with which exit code. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { HELP } from "../src/help.ts";
import { runCli, startCli, temporaryDirectory } from "./support/cli.ts";

describe("what needs no home", () => {
  test("--version, and with --json which Node runs it", async () => {
    const plain = await runCli(["--version"]);
    expect(plain).toMatchObject({ code: 0, stderr: "" });
    expect(plain.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    const json = JSON.parse((await runCli(["--version", "--json"])).stdout);
    expect(json).toEqual({ version: plain.stdout.trim(), node: process.versions.node });
  });

  test("--help is one screen and names every command", async () => {
    const { code, stdout } = await runCli(["--help"]);
    expect(code).toBe(0);
    expect(stdout).toBe(HELP);
    expect(HELP.split("\n").length).toBeLessThanOrEqual(32);
    for (const line of HELP.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
  });

  test("nothing at all shows the help, and is wrong usage", async () => {
    expect(await runCli([])).toMatchObject({ code: 2, stdout: HELP });
  });
});

describe("wrong usage is exit code 2, in one sentence", () => {
  test.each([
    [["--jsn", "status"], /unknown option '--jsn' \(Did you mean --json\?\)/],
    [["sesion", "list"], /unknown command 'sesion' \(Did you mean session\?\)/],
    [["session", "lst"], /unknown command 'lst' \(Did you mean list\?\)/],
    [["--home", "", "session", "list"], /empty; name a directory/],
    [["session", "list", "more"], /too many arguments/],
    [["session", "show"], /missing required argument 'name'/],
    [["send", "hello"], /required option '--session <key>' not specified/],
    [["send", "--session", "main"], /missing required argument 'text'/],
    [["gateway", "--port", "http"], /whole number/],
    [["gateway", "--port", "70000"], /65535/],
    [["transcript", "context", "x", "--max-messages", "-1"], /whole number/],
    [["demo", "--lang", "fr"], /Allowed choices are en, zh/],
    [["--home"], /argument missing/],
  ])("%j", async (args, says) => {
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(says);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });

  test("with --json it is an error object on stdout", async () => {
    const { code, stdout, stderr } = await runCli(["session", "lst", "--json"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      error: { code: "usage", message: expect.stringContaining("lst"), details: expect.any(Object) },
    });
  });
});

test("an OpenClaw home is refused and left alone", async () => {
  await using directory = await temporaryDirectory();
  await writeFile(join(directory.path, "openclaw.json"), "{}");
  for (const args of [["session", "list"], ["send", "--session", "main", "hi"], ["gateway"]]) {
    const { code, stderr } = await runCli([...args, "--home", directory.path]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/is an OpenClaw home/);
  }
});

describe("a configuration that is wrong", () => {
  test("config check names every problem and exits 3; commands that need it exit 1", async () => {
    await using directory = await temporaryDirectory();
    await writeFile(join(directory.path, "holdfast.json"), "{ gateway: { prot: 80, host: 5 } }");
    const check = await runCli(["config", "check", "--json", "--home", directory.path]);
    expect(check.code).toBe(3);
    const { ok, problems } = JSON.parse(check.stdout);
    expect(ok).toBe(false);
    expect(problems.map((problem: { path: string }) => problem.path)).toEqual(expect.arrayContaining(["gateway.host"]));
    expect(JSON.stringify(problems)).toMatch(/port/);
    for (const args of [["gateway"], ["session", "list"], ["send", "--session", "main", "hi"]]) {
      const { code, stderr } = await runCli([...args, "--home", directory.path]);
      expect(code).toBe(1);
      expect(stderr).toMatch(/gateway\.host/);
    }
  });

  test("a missing file is right; a directory in its place is an error that says so", async () => {
    await using directory = await temporaryDirectory();
    expect((await runCli(["config", "check", "--home", directory.path])).code).toBe(0);
    await mkdir(join(directory.path, "holdfast.json"));
    const { code, stderr } = await runCli(["config", "check", "--home", directory.path]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/it is a directory/);
  });
});

test("a reader that goes away is no failure", async () => {
  const child = startCli(["--help"]);
  child.stdout.destroy();
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect(code).toBe(0);
});
