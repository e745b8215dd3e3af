import { spawn } from "node:child_process";
import { once } from "node:events";
import { access, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { identityOf, livenessOf, realWorld } from "@holdfast/base";
import { describe, expect, test } from "vitest";
import { AgentError } from "../../../src/errors.ts";
import { makeStarted, putRecord, readRecord } from "../../../src/tools/exec/attempt.ts";
import { execTool } from "../../../src/tools/exec/exec.ts";
import type { ToolContext } from "../../../src/types.ts";
import { probeTool, runTool, temporaryWorkspace } from "../../support/workspace.ts";

const tool = execTool({ PATH: process.env.PATH, HOME: "/tmp", OPENAI_API_KEY: "sk-secret", HOLDFAST_FAULT: "kill@1" });
const world = realWorld();
const SUPERVISOR = fileURLToPath(new URL("../../../src/tools/exec/supervisor.ts", import.meta.url));

async function until(what: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 2_000; tries++) {
    if (await what()) return;
    await world.sleep(5);
  }
  throw new Error("waited in vain");
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

async function supervisorPid(context: ToolContext): Promise<number> {
  const started = (await readRecord(context.attemptDirectory, "started")) as { pid: number };
  return started.pid;
}

/** A supervisor started as the gateway starts it, by hand. */
async function startByHand(context: ToolContext, command: string): Promise<ReturnType<typeof spawn>> {
  const { boot, pidns, host } = identityOf("");
  const record = {
    command,
    cwd: context.workspace,
    timeoutMs: 60_000,
    outputBytesMax: 1_000,
    place: { boot, pidns, host },
  };
  await putRecord(context.attemptDirectory, "command", record);
  return spawn(process.execPath, [SUPERVISOR, context.attemptDirectory], { detached: true, stdio: "ignore" });
}

describe("a command", () => {
  test.each([
    ["output", "echo hello; echo 你好", { ok: true, text: "hello\n你好" }],
    ["both streams in their order", "echo 1; echo 2 >&2; echo 3; echo 4 >&2", { ok: true, text: "1\n2\n3\n4" }],
    ["no output", "true", { ok: true, text: "(no output)" }],
    ["an exit code", "echo oops; exit 3", { ok: false, text: "oops\n(exit code 3)" }],
    ["a signal", "kill -9 $$", { ok: false, text: "(ended by SIGKILL)" }],
    ["no standard input", "cat; echo end", { ok: true, text: "end" }],
    ["where it runs", "basename $(pwd)", { ok: true, text: "workspace" }],
    ["quotes and line ends", "printf '%s\\n' \"it's\" '$x'\necho second", { ok: true, text: "it's\n$x\nsecond" }],
    ["neither keys nor our own variables", 'echo "[$OPENAI_API_KEY$HOLDFAST_FAULT]"', { ok: true, text: "[]" }],
  ])("%s", async (_name, command, outcome) => {
    await using space = await temporaryWorkspace();
    expect(await runTool(tool, { command }, space.context)).toMatchObject(outcome);
  });

  test("leaves private files that prove its end", async () => {
    await using space = await temporaryWorkspace();
    await runTool(tool, { command: "echo hi" }, space.context);
    for (const name of ["command", "started", "output", "exit"]) {
      expect((await stat(join(space.context.attemptDirectory, name))).mode & 0o777).toBe(0o600);
    }
    expect(await readRecord(space.context.attemptDirectory, "exit")).toMatchObject({
      code: 0,
      signal: null,
      stopped: null,
    });
  });

  test("that takes too long is ended with everything it started", async () => {
    await using space = await temporaryWorkspace();
    const command = "sleep 300 & echo $! > child; wait";
    const outcome = await runTool(tool, { command, timeoutMs: 400 }, space.context);
    expect(outcome).toMatchObject({
      ok: false,
      text: "(ended because its time was up)",
      details: { stopped: "timeout" },
    });
    const pid = Number(await readFile(space.inside("child"), "utf8"));
    expect(livenessOf({ ...identityOf(""), pid, start: "" })).toBe("dead");
  });

  test("that is cancelled is ended", async () => {
    const stop = new AbortController();
    await using space = await temporaryWorkspace({ signal: stop.signal });
    const running = runTool(tool, { command: "touch begun; sleep 300" }, space.context);
    await until(() => exists(space.inside("begun")));
    stop.abort();
    expect(await running).toMatchObject({ ok: false, details: { stopped: "cancelled" } });
  });

  test("that is let go runs on, and is found again", async () => {
    const stop = new AbortController();
    await using space = await temporaryWorkspace({ signal: stop.signal });
    const running = runTool(
      tool,
      { command: "touch begun; while [ ! -e go ]; do sleep 0.02; done; echo done" },
      space.context,
    );
    await until(() => exists(space.inside("begun")));
    stop.abort(new AgentError("detached", { session: "s" }));
    await expect(running).rejects.toMatchObject({ code: "detached" });
    const context = { ...space.context, signal: new AbortController().signal };
    const probe = await probeTool(tool, {}, {}, context);
    if (probe.kind !== "in_flight") throw new Error(probe.kind);
    await writeFile(space.inside("go"), "");
    await probe.wait(context.signal);
    expect(await probeTool(tool, {}, {}, context)).toMatchObject({
      kind: "happened",
      outcome: { ok: true, text: "done" },
    });
  });

  test("with too much output keeps its head and tail, and counts the rest", async () => {
    await using space = await temporaryWorkspace();
    const command = "echo begin; head -c 70000000 /dev/zero | tr '\\0' x; echo; echo end";
    const outcome = await runTool(tool, { command }, space.context);
    expect(outcome.text).toMatch(/^begin\nx/);
    expect(outcome.text).toMatch(/bytes left out/);
    expect(outcome.text).toMatch(/x\nend$/);
    const output = join(space.context.attemptDirectory, "output");
    expect((await stat(output)).size).toBeLessThan(64 * 1024 * 1024 + 70_000);
    expect((await readFile(output)).subarray(-70_000).toString()).toMatch(
      /\(2825611 bytes were not kept\)\nx+\nend\n$/,
    );
  });

  test("that leaves something in the background does not keep anybody waiting", async () => {
    await using space = await temporaryWorkspace();
    expect(await runTool(tool, { command: "sleep 5 & echo started" }, space.context)).toMatchObject({
      ok: true,
      text: "started",
    });
  });

  test("whose workspace is gone says so", async () => {
    await using space = await temporaryWorkspace();
    const context = { ...space.context, workspace: join(space.root, "gone") };
    expect(await runTool(tool, { command: "true" }, context)).toMatchObject({
      ok: false,
      text: expect.stringMatching(/could not be run/),
    });
  });

  test.each([[{ command: "" }], [{ command: "a\0b" }], [{ command: "x", timeoutMs: 1 }], [{}]])(
    "%j is refused",
    (args) => expect(tool.check(args)).toMatch(/command|timeoutMs/),
  );
});

describe("after a crash of the gateway", () => {
  test("nothing was started: absent, and a late supervisor runs nothing", async () => {
    await using space = await temporaryWorkspace();
    expect(await probeTool(tool, {}, {}, space.context)).toMatchObject({ kind: "absent" });
    const late = await startByHand(space.context, "touch late");
    const [code] = await once(late, "exit");
    expect(code).toBe(0);
    expect(await exists(space.inside("late"))).toBe(false);
    expect(await probeTool(tool, {}, {}, space.context)).toMatchObject({ kind: "absent" });
  });

  test("the command still runs: in flight, then its real output", async () => {
    await using space = await temporaryWorkspace();
    await startByHand(space.context, "echo one; while [ ! -e go ]; do sleep 0.02; done; echo two; exit 4");
    await until(() => exists(join(space.context.attemptDirectory, "started")));
    const probe = await probeTool(tool, {}, {}, space.context);
    if (probe.kind !== "in_flight") throw new Error(probe.kind);
    await writeFile(space.inside("go"), "");
    await probe.wait(space.context.signal);
    const found = await probeTool(tool, {}, {}, space.context);
    expect(found).toMatchObject({
      kind: "happened",
      outcome: { ok: false, text: "one\ntwo\n(exit code 4)" },
      evidence: { exit: { code: 4 } },
    });
  });

  test("the supervisor was killed too: unknown, with what would settle it", async () => {
    await using space = await temporaryWorkspace();
    const supervisor = await startByHand(space.context, "touch begun; exec sleep 3");
    await until(() => exists(space.inside("begun")));
    const ended = once(supervisor, "exit");
    process.kill(await supervisorPid(space.context), "SIGKILL");
    await ended;
    const probe = await probeTool(tool, {}, {}, space.context);
    expect(probe).toMatchObject({ kind: "unknown", says: expect.stringMatching(/Look at what it was to change/) });
  });

  test("an exit status counts on any boot; a start without one on another boot is unknown", async () => {
    await using space = await temporaryWorkspace();
    const elsewhere = { ...identityOf("x"), boot: "another-boot", host: "another-host" };
    await makeStarted(space.context.attemptDirectory, elsewhere);
    expect((await probeTool(tool, {}, {}, space.context)).kind).toBe("unknown");
    await writeFile(join(space.context.attemptDirectory, "output"), "from before\n");
    const exit = { code: 0, signal: null, stopped: null, outputBytes: 12, error: null };
    await putRecord(space.context.attemptDirectory, "exit", exit);
    expect(await probeTool(tool, {}, {}, space.context)).toMatchObject({
      kind: "happened",
      outcome: { text: "from before" },
    });
  });

  test("two supervisors of one attempt: the command runs once, and the mark stays as it is", async () => {
    await using space = await temporaryWorkspace();
    const first = await startByHand(space.context, "echo ran >> runs");
    const second = await startByHand(space.context, "echo ran >> runs");
    await Promise.all([once(first, "exit"), once(second, "exit")]);
    expect(await readFile(space.inside("runs"), "utf8")).toBe("ran\n");
    const mark = await readRecord(space.context.attemptDirectory, "started");
    expect(await makeStarted(space.context.attemptDirectory, { void: true })).toBe(false);
    expect(await readRecord(space.context.attemptDirectory, "started")).toEqual(mark);
  });
});
