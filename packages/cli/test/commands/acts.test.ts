/** Changing conversations on the real command line; facts are read with the library, from outside. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { openSessions } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { runCli, startCli, temporaryDirectory } from "../support/cli.ts";

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
  const ran = await runCli(["--home", home, "session", ...args, "--json"]);
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
      expect((await runCli(["--home", home, "session", "tree", KEY])).stdout).toContain("the second");
      expect(await run("rename", KEY, "to-dos")).toMatchObject({ code: 0, value: { name: "to-dos" } });
      expect((await run("show", KEY)).value).toMatchObject({ label: "to-dos" });
    }));

  test("archive, restore, reset, clear: the transcript is always kept", () =>
    inHome(async () => {
      const { sessionId } = (await run("show", KEY)).value;
      expect(await run("archive", KEY)).toMatchObject({ code: 0, value: { kind: "archived" } });
      expect((await run("list")).value.sessions).toMatchObject([{ key: KEY, sessionId }]);
      expect((await runCli(["--home", home, "session", "context", KEY])).code).toBe(0);
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

  test("with a gateway on this home they refuse as busy and change nothing", () =>
    inHome(async () => {
      const gateway = startCli(["--home", home, "gateway", "--port", "0", "--json"]);
      await new Promise((resolve) => gateway.stdout.once("data", resolve));
      try {
        for (const args of [["branch", KEY, "q1"], ["archive", KEY], ["clear", "--session", KEY], ["cleanup"]]) {
          expect(await run(...args)).toMatchObject({ code: 4, value: { error: { code: "gateway_runs" } } });
        }
      } finally {
        gateway.kill("SIGTERM");
        await new Promise((resolve) => gateway.once("close", resolve));
      }
      expect(await heard()).toEqual(["q1", "q2"]);
    }));
});
