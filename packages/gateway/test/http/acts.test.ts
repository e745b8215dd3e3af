/** Acts on conversations over HTTP: judged by the answers, by what the model is given next, and by the folder. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { act as doing, say, scriptedModel, stalled } from "@holdfast/agent";
import { expect, test } from "vitest";
import type { WireSnapshot } from "../../src/wire/index.ts";
import { startGateway } from "../support/gateway.ts";
import { ask, events, tokenOf } from "../support/http.ts";

const KEY = "agent:main:main";
const OTHER = "agent:main:copy";

async function started(options: Parameters<typeof startGateway>[0] = {}) {
  const model = scriptedModel((request) => say(`${request.messages.filter(({ role }) => role === "user").length}`));
  const { gateway, home } = await startGateway({ model, ...options, http: true });
  const base = gateway.address!;
  const headers = { authorization: `Bearer ${tokenOf(home)}` };
  const post = async (path: string, body?: unknown) => {
    const answer = await ask(`${base}/api/${path}`, {
      method: "POST",
      headers,
      ...(body === undefined ? {} : { body }),
    });
    return [answer.status, answer.json()] as const;
  };
  const act = (name: string, body?: unknown, key = KEY) => post(`sessions/${encodeURIComponent(key)}/${name}`, body);
  const snapshot = async (key = KEY) =>
    (await ask(`${base}/api/sessions/${key}/entries`, { headers })).json() as WireSnapshot;
  const users = async (key = KEY) => (await snapshot(key)).entries.filter(isUser);
  const archive = () => readdirSync(join(home, "agents", "main", "sessions", "archive"));
  return { gateway, home, base, headers, post, act, snapshot, users, archive };
}
const isUser = (entry: object): boolean =>
  "message" in entry && (entry.message as { readonly role: string }).role === "user";

test("branch, label, rename and fork say what they did, and the next message goes on from there", async () => {
  const { gateway, act, users, snapshot } = await started();
  for (const text of ["one", "two"]) await gateway.send(KEY, text);
  const [first] = await users();
  const entryId = first!.id;
  const [status, branched] = await act("branch", { entryId });
  expect([status, branched]).toEqual([
    200,
    { key: KEY, leaf: (await snapshot()).leaf, from: entryId, left: [], durable: true },
  ]);
  expect(await gateway.send(KEY, "three")).toMatchObject({ answer: { answer: "2" } });
  expect(await act("label", { entryId, label: "here" })).toEqual([
    200,
    { key: KEY, entryId, label: "here", durable: true },
  ]);
  expect(await act("rename", { name: "待办" })).toEqual([200, { key: KEY, name: "待办", durable: true }]);
  expect(await act("rename", { name: "" })).toMatchObject([200, { name: null }]);
  expect(await act("fork", { to: OTHER, entryId })).toMatchObject([
    200,
    { key: OTHER, from: KEY, entryId, sessionId: expect.any(String), closedCalls: 0 },
  ]);
  expect(await users(OTHER)).toHaveLength(1);
  expect(await act("fork", { to: OTHER })).toMatchObject([409, { error: { code: "session_exists" } }]);
});

test("going back tells what was done since, does none of it again, and takes nothing back", async () => {
  const write = (path: string) => doing("write", { path, content: "x" });
  const model = scriptedModel([write("a.txt"), say("A."), write("b.txt"), say("B."), say("Again."), say("C.")]);
  const { gateway, home, act, users, snapshot } = await started({ model });
  for (const text of ["one", "two"]) await gateway.send(KEY, text);
  const before = (await snapshot()).leaf;
  const [, second] = await users();
  const [, { left }] = (await act("branch", { entryId: second!.id })) as [
    number,
    { left: { args: object; state: string }[] },
  ];
  expect(left).toMatchObject([{ tool: "write", args: { path: "b.txt" }, state: "done" }]);
  rmSync(join(home, "workspace", "b.txt"));
  expect(await gateway.send(KEY, "again")).toMatchObject({ answer: { answer: "Again." } });
  expect(readdirSync(join(home, "workspace"))).not.toContain("b.txt");
  // And back: what was done there is not done again either.
  expect(await act("branch", { entryId: before })).toMatchObject([200, { left: [] }]);
  expect(await gateway.send(KEY, "go on")).toMatchObject({ answer: { answer: "C." } });
  expect(readdirSync(join(home, "workspace"))).not.toContain("b.txt");
});

test("archive, reset, clear, restore: the transcript is kept, and the gateway goes on with what is there", async () => {
  const { gateway, act, post, archive, users } = await started();
  const begun = await gateway.send(KEY, "one");
  const sessionId = begun.kind === "answered" ? begun.answer.sessionId : null;
  expect(await act("archive")).toMatchObject([200, { key: KEY, kind: "archived" }]);
  expect(archive()).toHaveLength(1);
  expect(await gateway.send(KEY, "two")).toMatchObject({ answer: { answer: "2", sessionId } });
  expect(await act("reset", {})).toMatchObject([200, { key: KEY, before: { kind: "archived" } }]);
  expect(await gateway.send(KEY, "anew")).toMatchObject({ answer: { answer: "1" } });
  expect(await act("clear")).toMatchObject([200, { key: KEY, kind: "archived" }]);
  expect(await act("clear")).toMatchObject([404, { error: { code: "session_missing" } }]);
  expect(await post("restore", { agentId: "main", name: sessionId })).toEqual([200, { key: KEY, sessionId }]);
  expect(await users()).toHaveLength(2);
  expect(await gateway.send(KEY, "three")).toMatchObject({ answer: { answer: "3", sessionId } });
});

test("purge destroys only when it is said each time", async () => {
  const { gateway, act, users, archive } = await started();
  await gateway.send(KEY, "a secret");
  expect(await act("purge")).toMatchObject([400, { error: { code: "bad_request" } }]);
  expect(await act("purge", {})).toMatchObject([400, { error: { code: "bad_request" } }]);
  expect(await act("purge", { dryRun: true })).toMatchObject([200, { destroyed: [{}], kept: null, tombstone: null }]);
  expect(await users()).toHaveLength(1);
  expect(await act("purge", { dryRun: false })).toMatchObject([200, { destroyed: [{}], kept: null, scrubbed: true }]);
  expect(archive()).toEqual([expect.stringContaining(".purge.")]);
  expect(await act("purge", { dryRun: false })).toMatchObject([404, { error: { code: "session_missing" } }]);
  expect(await gateway.send(KEY, "anew")).toMatchObject({ answer: { answer: "1" } });
});

test("cleanup on demand is the gateway's own retention", async () => {
  const { gateway, post } = await started({ config: "{ sessions: { retention: { maxSize: 1 } } }" });
  await gateway.send(KEY, "one");
  const would = [200, { agents: [{ agentId: "main", dryRun: true, archived: [{ key: KEY, why: "size" }] }] }];
  expect(await post("cleanup", { dryRun: true })).toMatchObject(would);
  expect(await post("cleanup", { agentId: "main" })).toMatchObject([
    200,
    { agents: [{ dryRun: false, archived: [{ key: KEY }] }] },
  ]);
  expect(await post("cleanup", { agentId: "nobody" })).toMatchObject([404, { error: { code: "no_agent" } }]);
});

test("what is worked on is left where it is and says so", async () => {
  const asked = Promise.withResolvers<void>();
  const model = scriptedModel(() => {
    asked.resolve();
    return stalled();
  });
  const { gateway, act } = await started({ model });
  await gateway.send(KEY, "one", { wait: false });
  await asked.promise;
  for (const name of ["archive", "clear"]) {
    expect(await act(name)).toMatchObject([200, { key: KEY, kind: "kept", why: "running" }]);
  }
});

test("whoever follows the conversation is told to take it in anew", async () => {
  const { gateway, base, headers, act, users } = await started();
  await gateway.send(KEY, "one");
  const [first] = await users();
  const cursor = gateway.hub.cursor(KEY);
  await act("branch", { entryId: first!.id });
  const seen = await events(`${base}/api/sessions/${KEY}/stream?after=${cursor}`, headers, (all) => all.length > 0);
  expect(seen.map(({ event }) => event)).toEqual([{ type: "snapshot" }]);
});

test("only for who is signed in, not for pages of others, and only as described", async () => {
  const { base, headers, act, post } = await started({ config: "{ agents: { list: [{ id: 'main' }, { id: 'b' }] } }" });
  const paths = ["branch", "fork", "label", "rename", "reset", "archive", "clear", "purge"].map(
    (name) => `sessions/${KEY}/${name}`,
  );
  for (const path of [...paths, "restore", "cleanup"]) {
    const url = `${base}/api/${path}`;
    expect((await ask(url, { method: "POST" })).status, path).toBe(401);
    const page = { ...headers, origin: "https://elsewhere.example" };
    expect((await ask(url, { method: "POST", headers: page })).status, path).toBe(403);
  }
  const bad = [400, { error: { code: "bad_request" } }];
  expect(await act("branch", { entry: "x" })).toMatchObject(bad);
  expect(await act("archive", { force: true })).toMatchObject(bad);
  expect(await post("cleanup", { dryrun: true })).toMatchObject(bad);
  expect(await act("archive", undefined, "nonsense")).toMatchObject([400, { error: { code: "bad_session_key" } }]);
  expect(await act("branch", { entryId: "x" })).toMatchObject([404, { error: { code: "session_missing" } }]);
  expect(await act("fork", { to: "agent:b:main" })).toMatchObject(bad);
});
