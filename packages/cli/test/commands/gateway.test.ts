/** The running gateway and the commands that go through it, as separate processes on one home. */
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { finished, firstLine, runCli, startCli, temporaryDirectory } from "../support/cli.ts";

// Several processes in each test: on a busy machine they are slow, not wrong.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

async function startGateway(
  home: string,
): Promise<{ child: ChildProcessWithoutNullStreams; address: string; signIn: string }> {
  const child = startCli(["gateway", "--json", "--port", "0", "--home", home]);
  const { address, signIn } = JSON.parse(await firstLine(child));
  return { child, address, signIn };
}

describe("one gateway, several commands", () => {
  const held: { directory?: Awaited<ReturnType<typeof temporaryDirectory>>; child?: ChildProcessWithoutNullStreams } =
    {};
  let home = "";
  let address = "";

  beforeAll(async () => {
    held.directory = await temporaryDirectory();
    home = join(held.directory.path, "home");
    const started = await startGateway(home);
    held.child = started.child;
    address = started.address;
    expect(started.signIn.startsWith(`${address}/`)).toBe(true);
  });
  afterAll(async () => {
    held.child?.kill("SIGKILL");
    await held.directory?.[Symbol.asyncDispose]();
  });

  test("it answers where it says, also after the reader of its output went away", async () => {
    expect((await fetch(`${address}/healthz`)).status).toBe(200);
  });

  test("a second one is refused with exit 4 and told who is first", async () => {
    const { code, stdout } = await runCli(["gateway", "--json", "--port", "0", "--home", home]);
    expect(code).toBe(4);
    const { error } = JSON.parse(stdout);
    expect(error.code).toBe("home_busy");
    expect(error.message).toContain(String(held.child?.pid));
    expect(error.message).toContain(address);
  });

  test("send goes through it, twice into the same conversation", async () => {
    const first = JSON.parse((await runCli(["send", "--session", "main", "hello", "--json", "--home", home])).stdout);
    expect(first).toMatchObject({ session: "agent:main:main", durable: true });
    const second = await runCli(["send", "--session", "agent:main:main", "what", "can", "I", "do?", "--home", home]);
    expect(second.code).toBe(0);
    expect(second.stdout.length).toBeGreaterThan(20);
    const text = await readFile(join(home, "agents", "main", "sessions", `${first.sessionId}.jsonl`), "utf8");
    expect(text).toContain(first.entryId);
    expect(text).toContain("what can I do?");
  });

  test("the conversation can be listed, shown, drawn and explained", async () => {
    const list = JSON.parse((await runCli(["session", "list", "--json", "--home", home])).stdout);
    expect(list.sessions).toMatchObject([{ key: "agent:main:main", agentId: "main" }]);
    const { sessionId, file } = list.sessions[0];
    expect((await runCli(["sessions", "list", "--home", home])).stdout).toContain("agent:main:main");
    const show = JSON.parse(
      (await runCli(["session", "show", sessionId.slice(0, 8), "--json", "--home", home])).stdout,
    );
    expect(show).toMatchObject({ key: "agent:main:main", sessionId, file, context: { messages: 4 } });
    const tree = await runCli(["session", "tree", "web_dashboard", "--home", home]);
    expect(tree.stdout).toMatch(/user {2}hello[\s\S]*← here/);
    const context = JSON.parse(
      (await runCli(["session", "context", "main", "--json", "--max-messages", "2", "--home", home])).stdout,
    );
    expect(context.messages).toHaveLength(2);
    expect(context.report.leftOut.length).toBeGreaterThan(0);
  });

  test("status knows it", async () => {
    const status = JSON.parse((await runCli(["status", "--json", "--home", home])).stdout);
    expect(status).toMatchObject({ running: true, address, sessions: 1, gateway: { rehearsal: true } });
    const signedIn = await fetch(status.signInLink, { redirect: "manual" });
    expect([signedIn.status, signedIn.headers.getSetCookie().length]).toEqual([303, 1]);
  });

  test("names that mean nothing are exit 5, those that look like paths exit 2", async () => {
    for (const command of ["show", "tree", "context"]) {
      expect((await runCli(["session", command, "nobody", "--home", home])).code).toBe(5);
      expect((await runCli(["session", command, "../../etc/passwd", "--home", home])).code).toBe(2);
    }
    expect((await runCli(["send", "--session", "agent:main:../../x", "hi", "--home", home])).code).toBe(2);
    expect((await runCli(["send", "--session", "main", " \t", "--home", home])).code).toBe(2);
    expect((await runCli(["session", "list", "--agent", "nobody", "--home", home])).code).toBe(5);
  });

  test("chat talks line by line and ends with its input", async () => {
    const { code, stdout } = await runCli(["chat", "--home", home], {
      stdin: "Read notes/meeting.md\n\n/quit\nnot sent\n",
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^agent:main:main · rehearsal\/offline/);
    expect(stdout).toMatch(/✓ read: /);
    const tree = (await runCli(["session", "tree", "main", "--home", home])).stdout;
    expect(tree).toContain("Read notes/meeting.md");
    expect(tree).not.toContain("not sent");
  });

  test("chat --json answers one JSON line per message", async () => {
    const { stdout } = await runCli(["chat", "--json", "--home", home], { stdin: "hello\nhello again\n" });
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers).toHaveLength(2);
    expect(answers[1]).toMatchObject({ session: "agent:main:main", durable: true });
  });

  test("a signal ends it gracefully, and the home is free again", async () => {
    held.child?.kill("SIGTERM");
    const [code] = await once(held.child!, "exit");
    expect(code).toBe(0);
    const next = await startGateway(home);
    next.child.kill("SIGINT");
    expect((await once(next.child, "exit"))[0]).toBe(0);
  });
});

test("it ends with exit 1 and says why when its home.lock is removed", async () => {
  await using directory = await temporaryDirectory();
  const home = join(directory.path, "home");
  const { child } = await startGateway(home);
  const ended = finished(child);
  await rm(join(home, "home.lock"));
  expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining("home.lock") });
});

test("killed while it holds a message, it answers it when it is started again", async () => {
  await using directory = await temporaryDirectory();
  const home = join(directory.path, "home");
  const trace = join(directory.path, "trace");
  const args = ["send", "--session", "main", "hello", "--home", home];
  const killed = await finished(
    startCli(args, { HOLDFAST_FAULT: "kill@model:before-ask#1", HOLDFAST_FAULT_TRACE: trace }),
  );
  expect(killed.signal).toBe("SIGKILL");
  const again = JSON.parse(
    (await runCli(["send", "--session", "main", "and hello again", "--json", "--home", home])).stdout,
  );
  const context = JSON.parse((await runCli(["session", "context", "main", "--json", "--home", home])).stdout);
  const roles = context.messages.map((message: { role: string }) => message.role);
  // The second message joins the turn that goes on, so one answer is for both.
  expect(roles).toEqual(["user", "user", "assistant"]);
  expect(again.session).toBe("agent:main:main");
});

test("a conversation in the terminal goes on across a kill of the gateway", async () => {
  await using directory = await temporaryDirectory();
  const home = join(directory.path, "home");
  const first = await startGateway(home);
  const chat = startCli(["chat", "--home", home]);
  const said = { text: "" };
  chat.stdout.setEncoding("utf8").on("data", (text) => {
    said.text += text;
  });
  const reads = (pattern: RegExp) => vi.waitFor(() => expect(said.text).toMatch(pattern), { timeout: 60_000 });
  chat.stdin.write("hello\n");
  await reads(/models\.providers`\.\n\n/); // the whole answer, and the line after it
  first.child.kill("SIGKILL");
  await reads(/the gateway is gone; waiting for it/);
  chat.stdin.write("Read notes/meeting.md\n");
  const second = startCli(["gateway", "--port", new URL(first.address).port, "--home", home]);
  await reads(/✓ read: /);
  chat.stdin.end();
  expect((await once(chat, "exit"))[0]).toBe(0);
  expect(said.text.match(/no language model, but/g)).toHaveLength(1);
  second.kill("SIGKILL");
});

test("without a gateway the commands work by themselves, and leave the home free", async () => {
  await using directory = await temporaryDirectory();
  const home = join(directory.path, "home");
  expect((await runCli(["session", "list", "--home", home])).stdout).toMatch(/No conversations/);
  expect(JSON.parse((await runCli(["session", "list", "--json", "--home", home])).stdout)).toEqual({ sessions: [] });
  expect(JSON.parse((await runCli(["status", "--json", "--home", home])).stdout)).toMatchObject({
    running: false,
    sessions: 0,
  });
  const { code, stdout } = await runCli(["chat", "--home", home], { stdin: "你好\n" });
  expect(code).toBe(0);
  expect(stdout.split("\n").length).toBeGreaterThan(2);
  expect(JSON.parse((await runCli(["status", "--json", "--home", home])).stdout)).toMatchObject({
    running: false,
    sessions: 1,
  });
});

test("a home that is a file is refused, in one sentence", async () => {
  await using directory = await temporaryDirectory();
  const home = join(directory.path, "file");
  await (await import("node:fs/promises")).writeFile(home, "");
  const { code, stderr } = await runCli(["gateway", "--port", "0", "--home", home]);
  expect(code).toBe(1);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  expect(stderr).toMatch(/it is a file|is a file/);
});
