/** Pi's own sessions, written by the real Pi, brought over; also by processes that are killed on the way. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { openSessions } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { migratePi } from "../../src/migrate/pi.ts";
import { contextOfTranscript } from "../../src/transcript.ts";
import { runChild } from "../support/child.ts";
import { hashesOf } from "../support/hashes.ts";
import { type TempDir, tempDir } from "../support/make.ts";
import { piContext } from "../support/pi.ts";
import { testPlace } from "../support/place.ts";

const assistant = (text: string) => ({
  role: "assistant" as const,
  content: [{ type: "text" as const, text }],
  api: "openai-completions" as const,
  provider: "p",
  model: "m",
  usage: {
    input: 1,
    output: 1,
    cacheRead: 0,
    cacheWrite: 0,
    totalTokens: 2,
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
  },
  stopReason: "stop" as const,
  timestamp: 2,
});

/** `agent/sessions/<folder per working directory>/<time>_<id>.jsonl`, by Pi itself: a compaction, a branch, a name. */
async function piHome(dir: TempDir): Promise<{ from: string; sessions: Map<string, string> }> {
  const sessions = new Map<string, string>();
  for (const [cwd, folder] of [
    ["/work/one", "--work-one--"],
    ["/work/two", "--work-two--"],
  ] as const) {
    const manager = SessionManager.create(cwd, join(dir.path, "agent", "sessions", folder));
    const first = manager.appendMessage({ role: "user", content: "hello", timestamp: 1 });
    manager.appendMessage(assistant("hi"));
    const kept = manager.appendMessage({ role: "user", content: "more 更多", timestamp: 3 });
    manager.appendCompaction("they said hello", kept, 10);
    manager.appendMessage(assistant("there"));
    manager.branch(first);
    manager.appendMessage(assistant("another answer"));
    manager.appendSessionInfo(`about ${folder}`);
    sessions.set(manager.getSessionId(), manager.getSessionFile() ?? "");
  }
  return { from: dir.path, sessions };
}

test("each session comes over under its id, with the context Pi builds; the source stays as it was", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  const { from, sessions } = await piHome(dir);
  const before = await hashesOf(from);
  const report = await migratePi(place, { from, agentId: "main" });
  expect(report).toMatchObject({ skipped: [], archived: [], notes: [] });
  expect(report.carried.map(({ key }) => key).toSorted()).toEqual(
    [...sessions.keys()].map((id) => `agent:main:pi:${id}`).toSorted(),
  );
  for (const { sessionId, file, kind } of report.carried) {
    expect(kind).toBe("created");
    const pi = await piContext(sessions.get(sessionId) ?? "");
    expect((await contextOfTranscript(file)).messages).toEqual(pi.messages);
    expect((await piContext(file)).messages).toEqual(pi.messages);
    expect(await place.store.get(`agent:main:pi:${sessionId}`)).toMatchObject({
      label: expect.stringContaining("about --work-"),
      cwd: expect.stringContaining("/work/"),
      importedFrom: { program: "pi", sessionId },
    });
  }
  const again = await migratePi(place, { from: join(from, "agent", "sessions"), agentId: "main" });
  expect(again.carried.map(({ kind }) => kind)).toEqual(["unchanged", "unchanged"]);
  expect(await hashesOf(from)).toEqual(before);
});

test("what cannot be carried over is skipped with the reason, and the rest comes over", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  const { from } = await piHome(dir);
  const folder = join(from, "agent", "sessions", "--odd--");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "a.jsonl"), "no transcript\n");
  await writeFile(
    join(folder, "b.jsonl"),
    '{"type":"session","version":3,"id":"../../x","timestamp":"2026-01-01T00:00:00Z"}\n',
  );
  const report = await migratePi(place, { from, agentId: "main" });
  expect(report.carried).toHaveLength(2);
  expect(report.skipped.map(({ source }) => source)).toEqual([join(folder, "a.jsonl"), join(folder, "b.jsonl")]);
});

test.each(["keeping:before-link#1", "keeping:after-link#1", "keeping:before-link#2", "index:before-write#2"])(
  "killed at %s and run again: everything is there once",
  async (point) => {
    await using dir = await tempDir();
    await using place = await testPlace();
    const { from, sessions } = await piHome(dir);
    const args = [from, place.directory];
    const killed = await runChild("./migrator.ts", args, { env: { HOLDFAST_FAULT: `kill@${point}` } });
    expect(killed.signal).toBe("SIGKILL");
    expect((await runChild("./migrator.ts", args)).lines).toEqual(["done"]);
    await using opened = await openSessions({ directory: place.directory });
    expect((await opened.list()).map(({ row }) => row.sessionId).toSorted()).toEqual([...sessions.keys()].toSorted());
    for (const [id, file] of sessions) {
      await using session = await opened.open(`agent:main:pi:${id}`);
      expect((await session.context()).messages).toEqual((await piContext(file)).messages);
      const ids = (await session.since(null)).map((entry) => entry.id);
      expect(ids).toHaveLength(new Set(ids).size);
    }
  },
);
