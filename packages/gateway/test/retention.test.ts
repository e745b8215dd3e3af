/** Retention in a running gateway, on real files: judged by the index, the folder and what the model was given. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { say, scriptedModel, stalled } from "@holdfast/agent";
import { openSessions, type SessionRow } from "@holdfast/sessions";
import { expect, test, vi } from "vitest";
import type { Log } from "../src/log.ts";
import { configOf, startGateway } from "./support/gateway.ts";
import { temporaryHome } from "./support/home.ts";
import { silentLog } from "../src/log.ts";
import { cleanUpAgents, keepAgentsTidy } from "../src/retention.ts";
import { realWorld } from "@holdfast/base";

const KEY = "agent:main:main";
const DAY_MS = 86_400_000;

const folder = (home: string): string => join(home, "agents", "main", "sessions");

/** A conversation whose last word of a person is so many days old. */
async function spokenTo(home: string, key: string, daysAgo: number): Promise<SessionRow> {
  await using sessions = await openSessions({ directory: folder(home), agentId: "main" });
  const session = await sessions.open(key);
  await session.append([
    { type: "message", message: { role: "user", content: `said in ${key}` } },
    { type: "message", message: { role: "assistant", content: [{ type: "text", text: "noted" }] } },
  ]);
  return await sessions.update(key, { lastInteractionAt: Date.now() - daysAgo * DAY_MS, state: undefined });
}

async function rowOf(home: string, key: string): Promise<SessionRow | undefined> {
  await using sessions = await openSessions({ directory: folder(home), agentId: "main" });
  return sessions.get(key);
}

function listeningLog(): { readonly log: Log; readonly lines: { message: string; details: unknown }[] } {
  const lines: { message: string; details: unknown }[] = [];
  const note = (message: string, details: unknown = {}): void => void lines.push({ message, details });
  return { log: { ...silentLog, info: note, warn: note, error: note }, lines };
}

test("an old conversation is put away after the start, and a message brings it back and goes on", async () => {
  const home = await temporaryHome();
  const old = await spokenTo(home, KEY, 40);
  const young = await spokenTo(home, "agent:main:cli:direct:me", 1);
  const model = scriptedModel([say("where were we")]);
  const { log, lines } = listeningLog();
  const { gateway } = await startGateway({ home, model, log });
  await vi.waitFor(() =>
    expect(lines).toContainEqual({ message: "retention", details: expect.objectContaining({ archived: 1, kept: 0 }) }),
  );
  expect(existsSync(join(folder(home), old.sessionFile))).toBe(false);
  expect(existsSync(join(folder(home), young.sessionFile))).toBe(true);
  const away = await rowOf(home, KEY);
  expect(away).toMatchObject({ sessionId: old.sessionId, sessionFile: expect.stringMatching(/^archive\/.*retention/) });
  expect(readdirSync(join(folder(home), "archive")).join()).toContain(old.sessionId);

  expect(await gateway.send(KEY, "and now?")).toMatchObject({
    kind: "answered",
    answer: { answer: "where were we", sessionId: old.sessionId },
  });
  expect(JSON.stringify(model.requests[0]?.messages)).toContain(`said in ${KEY}`);
  expect(existsSync(join(folder(home), old.sessionFile))).toBe(true);
});

test("a conversation that a message waits for stays", async () => {
  const home = await temporaryHome();
  const asked = Promise.withResolvers<void>();
  const model = scriptedModel(() => {
    asked.resolve();
    return stalled();
  });
  const config = "{ lanes: { main: 1 }, sessions: { retention: { mode: 'report' } } }";
  const { gateway } = await startGateway({ home, model, config });
  await gateway.send("agent:main:x:busy", "hold the only lane", { wait: false });
  await asked.promise;
  await gateway.send("agent:main:x:waits", "hello", { wait: false });
  const old = await spokenTo(home, "agent:main:x:waits", 40);
  await gateway.stop();

  const { log, lines } = listeningLog();
  await using sessions = await openSessions({ directory: folder(home), agentId: "main" });
  const { sqliteLanes } = await import("../src/lane-stores/sqlite.ts");
  const store = sqliteLanes(join(home, "lanes.sqlite"), realWorld());
  const agents = new Map([["main", { id: "main", sessions }]]);
  const parts = { agents, store, config: configOf(), world: realWorld(), log };
  await using _rounds = keepAgentsTidy(parts);
  await vi.waitFor(() => expect(lines).not.toEqual([]));
  await store.close();
  expect(lines).toEqual([{ message: "retention", details: expect.objectContaining({ archived: 0, kept: 1 }) }]);
  expect(existsSync(join(folder(home), old.sessionFile))).toBe(true);
});

test("said on day 0, put away, and on day 31 a message brings it back and the conversation goes on", async () => {
  const home = await temporaryHome();
  const real = realWorld();
  const onDay = (day: number) => ({ ...real, nowMs: () => real.nowMs() + day * DAY_MS });
  const model = scriptedModel((request) => say(`${request.messages.filter(({ role }) => role === "user").length}`));
  const first = await startGateway({ home, model, world: onDay(0) });
  const begun = await first.gateway.send(KEY, "my name is Ada");
  await first.gateway.stop();
  const { log, lines } = listeningLog();
  const { gateway } = await startGateway({ home, model, log, world: onDay(31) });
  await vi.waitFor(() =>
    expect(lines).toContainEqual({ message: "retention", details: expect.objectContaining({ archived: 1 }) }),
  );
  const sessionId = begun.kind === "answered" ? begun.answer.sessionId : "";
  expect(await rowOf(home, KEY)).toMatchObject({ sessionId, sessionFile: expect.stringMatching(/^archive\//) });
  const second = await gateway.send(KEY, "what is my name?");
  expect(second).toMatchObject({ kind: "answered", answer: { answer: "2", sessionId } });
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("my name is Ada");
  expect(await rowOf(home, KEY)).toMatchObject({ sessionId, sessionFile: `${sessionId}.jsonl` });
});

test("mode delete-archives destroys old archives of schedules, and of nobody else", async () => {
  const home = await temporaryHome();
  const CRON = "agent:main:cron:news";
  const config = "{ sessions: { retention: { mode: 'delete-archives' } } }";
  const world = realWorld();
  for (const key of [KEY, CRON]) await spokenTo(home, key, 31);
  const retention = configOf(config).sessions.retention;
  const clean = async (day: number, dryRun = false) => {
    const at = { ...world, nowMs: () => world.nowMs() + day * DAY_MS };
    await using sessions = await openSessions({ directory: folder(home), agentId: "main" }, at);
    return cleanUpAgents([{ id: "main", sessions }], { store: null, retention }, { agentId: null, dryRun });
  };
  expect(await clean(0)).toMatchObject([{ agentId: "main", archived: [{ key: CRON }, { key: KEY }], deleted: [] }]);
  expect(await clean(31, true)).toMatchObject([{ dryRun: true, deleted: [{ key: CRON }] }]);
  expect(await clean(31)).toMatchObject([{ archived: [], deleted: [{ key: CRON }] }]);
  expect(await rowOf(home, CRON)).toBeUndefined();
  expect(readdirSync(join(folder(home), "archive"))).toHaveLength(1);
  expect(await rowOf(home, KEY)).toMatchObject({ sessionFile: expect.stringMatching(/^archive\//) });
});

test("mode report only says what would be done", async () => {
  const home = await temporaryHome();
  const old = await spokenTo(home, KEY, 40);
  const { log, lines } = listeningLog();
  await startGateway({ home, log, config: "{ sessions: { retention: { mode: 'report' } } }" });
  await vi.waitFor(() =>
    expect(lines).toContainEqual({
      message: "retention would put away",
      details: expect.objectContaining({ archived: 1 }),
    }),
  );
  expect(existsSync(join(folder(home), old.sessionFile))).toBe(true);
});

test("a round that fails is told in the log and stops nothing", async () => {
  const { log, lines } = listeningLog();
  const cleanup = () => Promise.reject(new Error("the disk is full"));
  const agents = new Map([["main", { id: "main", sessions: { keep: { cleanup } } }]]);
  const parts = { agents, store: { list: async () => [] }, config: configOf(), world: realWorld(), log };
  await using _rounds = keepAgentsTidy(parts);
  await vi.waitFor(() => expect(lines).not.toEqual([]));
  expect(lines).toEqual([
    { message: "retention failed; it is tried again", details: { agent: "main", why: "the disk is full" } },
  ]);
});
