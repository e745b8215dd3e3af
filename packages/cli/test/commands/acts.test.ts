/** Changing conversations from the command line, with a gateway (a process of its own) and without; facts are read with the library, from outside. */
import { appendFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSessions } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { startCli, temporaryDirectory } from "../support/cli.ts";
import { runHere } from "../support/here.ts";

const KEY = "agent:main:telegram:direct:7";
let home: string;
let directory: string;

async function inHome(work: () => Promise<void>): Promise<void> {
  await using dir = await temporaryDirectory();
  home = join(dir.path, "home");
  directory = join(home, "agents", "main", "sessions");
  await using sessions = await openSessions({ directory });
  await using session = await sessions.open(KEY);
  await session.append({ type: "message", id: "q1", message: { role: "user", content: "one" } });
  await session.append({ type: "message", id: "q2", message: { role: "user", content: "two" } });
  await sessions.close();
  await work();
}

async function run(...args: readonly string[]) {
  const ran = await runHere(["--home", home, "session", ...args, "--json"]);
  return { code: ran.code, value: JSON.parse(ran.stdout), stderr: ran.stderr };
}
async function heard(key = KEY): Promise<readonly unknown[]> {
  await using sessions = await openSessions({ directory });
  await using session = await sessions.open(key);
  return (await session.context()).entryIds;
}

describe("session acts", () => {
  test("branch, fork, label, rename", () =>
    inHome(async () => {
      expect(await run("branch", KEY, "q1")).toMatchObject({ code: 0, value: { from: "q1", durable: true } });
      expect(await heard()).toEqual(["q1"]);
      expect((await run("branch", KEY, "nobody")).code).toBe(5);
      const fork = await run("fork", KEY, "agent:main:other", "--entry", "q2");
      expect(fork).toMatchObject({
        code: 0,
        value: { key: "agent:main:other", from: KEY, entryId: "q2", closedCalls: 0 },
      });
      expect(await heard("agent:main:other")).toEqual(["q1", "q2"]);
      expect((await run("fork", KEY, "agent:main:other")).code).toBe(2);
      expect(await run("label", KEY, "q2", "the second")).toMatchObject({ code: 0, value: { label: "the second" } });
      expect((await runHere(["--home", home, "session", "tree", KEY])).stdout).toContain("the second");
      expect(await run("rename", KEY, "to-dos")).toMatchObject({ code: 0, value: { name: "to-dos" } });
      expect((await run("show", KEY)).value).toMatchObject({ label: "to-dos" });
    }));

  test("the list shows keys whole, names aligned however wide, and what is archived", () =>
    inHome(async () => {
      await run("fork", KEY, "agent:main:work");
      await run("rename", KEY, "待办");
      await run("rename", "agent:main:work", "to-dos");
      await run("archive", KEY);
      const { stdout } = await runHere(["--home", home, "session", "list"]);
      const [head = "", ...rows] = stdout.trimEnd().split("\n");
      expect(head).toMatch(/^CHANGED +STATUS +KEY +NAME$/);
      for (const [key, name, status] of [
        [KEY, "待办", "archived"],
        ["agent:main:work", "to-dos", "-"],
      ] as const) {
        const row = rows.find((line) => line.includes(`${key} `)) ?? "";
        expect(row.indexOf(name)).toBe(head.indexOf("NAME"));
        expect(row).toContain(` ${status} `);
      }
    }));

  test("archive, restore, reset, clear: the transcript is always kept", () =>
    inHome(async () => {
      const { sessionId } = (await run("show", KEY)).value;
      expect(await run("archive", KEY)).toMatchObject({ code: 0, value: { kind: "archived" } });
      expect((await run("list")).value.sessions).toMatchObject([{ key: KEY, sessionId }]);
      expect((await runHere(["--home", home, "session", "context", KEY])).code).toBe(0);
      expect(await run("restore", KEY)).toMatchObject({ code: 0, value: { key: KEY, sessionId } });
      const reset = await run("reset", KEY);
      expect(reset).toMatchObject({ code: 0, value: { before: { kind: "archived" } } });
      expect(reset.value.sessionId).not.toBe(sessionId);
      expect((await run("restore", sessionId)).code).toBe(2);
      expect((await run("clear", "--session", KEY)).value.cleared).toMatchObject([{ key: KEY }]);
      expect(await run("restore", sessionId)).toMatchObject({ code: 0, value: { key: KEY, sessionId } });
      expect(await heard()).toEqual(["q1", "q2"]);
      expect((await run("restore", "nobody-there")).code).toBe(5);
    }));

  test("clear --all, and a name that several channels share, need --yes where nobody can be asked", () =>
    inHome(async () => {
      expect((await run("clear")).code).toBe(2);
      expect((await run("clear", "--all")).code).toBe(2);
      expect(await heard()).toEqual(["q1", "q2"]);
      await using sessions = await openSessions({ directory });
      await (await sessions.open("agent:main:main")).close();
      await sessions.close();
      expect((await run("clear", "--session", "web_dashboard")).code).toBe(2);
      expect((await run("clear", "--session", "telegram_7")).code).toBe(0);
      expect((await run("clear", "--all", "--yes")).value.cleared).toMatchObject([{ key: "agent:main:main" }]);
      expect((await run("list")).value.sessions).toEqual([]);
      expect(await readdir(join(directory, "archive"))).toHaveLength(2);
    }));

  test("cleanup says what it would do, does it, and then has nothing to do", () =>
    inHome(async () => {
      await using sessions = await openSessions({ directory });
      await sessions.update(KEY, { lastInteractionAt: 1 });
      await sessions.close();
      const dry = await run("cleanup", "--dry-run");
      expect(dry).toMatchObject({
        code: 0,
        value: { agents: [{ agentId: "main", dryRun: true, archived: [{ key: KEY, why: "age" }] }] },
      });
      expect((await run("show", KEY)).value).not.toHaveProperty("archivedAt");
      expect((await run("cleanup")).value.agents).toMatchObject([{ archived: [{ key: KEY }], packed: 0 }]);
      expect((await run("cleanup")).value.agents).toMatchObject([{ archived: [], orphans: [], finished: [] }]);
      expect(await heard()).toEqual(["q1", "q2"]);
    }));

  test("with a gateway on this home they go through it, and say and do the same", async () => {
    const alone = await everyAct(false);
    const through = await everyAct(true);
    expect(through).toEqual(alone);
    expect(alone.map(({ code }) => code)).toEqual([0, 5, 0, 2, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 5, 2, 0, 2, 0, 5]);
  });
});

/** All acts on one conversation, with what differs from run to run taken out. */
async function everyAct(throughGateway: boolean): Promise<readonly { readonly code: number | null }[]> {
  const said: { readonly code: number | null; readonly text: string }[] = [];
  await inHome(async () => {
    const { sessionId } = (await run("show", KEY)).value;
    const stop = throughGateway ? await gatewayOn(home) : async () => {};
    try {
      for (const args of [
        ["branch", KEY, "q1"],
        ["branch", KEY, "nobody"],
        ["fork", KEY, "agent:main:other", "--entry", "q2", "--whole-turns"],
        ["fork", KEY, "agent:main:other"],
        ["label", KEY, "q2", "第二"],
        ["rename", KEY, "待办"],
        ["rename", KEY, ""],
        ["archive", KEY],
        ["restore", KEY],
        ["reset", KEY],
        ["clear", "--session", KEY],
        ["clear", "--session", KEY],
        ["restore", sessionId],
        ["cleanup", "--dry-run"],
        ["restore", "nobody-there"],
        ["fork", KEY, "agent:elsewhere:x"],
        ["purge", "agent:main:other", "--dry-run"],
        ["purge", "agent:main:other"],
        ["purge", "agent:main:other", "--yes"],
        ["purge", "agent:main:other", "--yes"],
      ]) {
        const { code, value } = await run(...args);
        said.push({ code, text: settled(value) });
      }
    } finally {
      await stop();
    }
    expect(await heard()).toEqual(["q1"]);
  });
  return said;
}

/** Ids and times of this run as such; messages name the home or the address. */
function settled(value: { readonly error?: { readonly code: string } }): string {
  if (value.error !== undefined) return value.error.code;
  return JSON.stringify(value)
    .replace(/"([0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{16})"/g, '"ID"')
    .replace(/archive\/[^"]*/g, "archive/…")
    .replace(/"(liveBytes|bytesAfter|bytes)":\d+/g, '"$1":0')
    .replace(/"[0-9a-f-]{36}\.jsonl"/g, '"ID.jsonl"')
    .replace(/"unreachable":\[.*?\]/, '"unreachable":[]');
}

async function gatewayOn(at: string): Promise<() => Promise<void>> {
  const gateway = startCli(["--home", at, "gateway", "--port", "0", "--json"]);
  await new Promise((resolve) => gateway.stdout.once("data", resolve));
  return async () => {
    gateway.kill("SIGTERM");
    await new Promise((resolve) => gateway.once("close", resolve));
  };
}

test("what is imported while a gateway works on the home is there for it at once", () =>
  inHome(async () => {
    await using dir = await temporaryDirectory();
    const file = join(dir.path, "telegram_9.jsonl");
    await writeFile(file, '{"id":"m1","parentId":null,"role":"user","content":"你好","timestamp":1710000000}\n');
    const stop = await gatewayOn(home);
    try {
      expect(await run("import", file)).toMatchObject({ code: 0, value: { kind: "created", added: 1 } });
      const key = "agent:main:telegram:direct:9";
      expect(await run("branch", key, "m1")).toMatchObject({ code: 0, value: { key, from: "m1" } });
      const more = '{"id":"m2","parentId":"m1","role":"user","content":"again","timestamp":1710000001}\n';
      await appendFile(file, more);
      expect(await run("import", file)).toMatchObject({ code: 0, value: { kind: "extended", added: 1 } });
      const sent = await runHere(["--home", home, "send", "--session", key, "hello", "--json"]);
      expect(JSON.parse(sent.stdout)).toMatchObject({ session: key, durable: true });
    } finally {
      await stop();
    }
    const { value } = await run("export", "agent:main:telegram:direct:9");
    const texts = value.messages.map(({ content }: { readonly content: string }) => content);
    expect(texts.slice(0, 3)).toEqual(["你好", "again", "hello"]);
  }));
