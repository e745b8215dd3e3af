/** The API as the dashboard uses it: snapshots, messages, streams. Real sockets, a scripted model. */
import { failed, say, scriptedModel, stalled } from "@holdfast/agent";
import { expect, test, vi } from "vitest";
import type { WireAnswer, WireSnapshot } from "../../src/wire/index.ts";
import { startGateway } from "../support/gateway.ts";
import { type Asked, ask, events, type Streamed, tokenOf } from "../support/http.ts";

const KEY = "agent:main:main";
const path = (rest: string, key = KEY) => `/api/sessions/${key}/${rest}`;

async function started(options: Parameters<typeof startGateway>[0] = {}) {
  const { gateway, home } = await startGateway({ model: scriptedModel(() => say("hi")), ...options, http: true });
  const base = gateway.address!;
  const headers = { authorization: `Bearer ${tokenOf(home)}` };
  const get = (at: string, asked: Asked = {}) =>
    ask(base + at, { ...asked, headers: { ...headers, ...asked.headers } });
  const say_ = (text: string, more: { wait?: boolean; key?: string } = {}) =>
    get(path("messages"), {
      method: "POST",
      body: { text, wait: more.wait ?? true },
      headers: more.key === undefined ? {} : { "idempotency-key": more.key },
    });
  const snapshot = async (query = "") => (await get(path("entries") + query)).json() as WireSnapshot;
  const stream = (after: string | null, enough: (seen: readonly Streamed[]) => boolean) =>
    events(`${base}${path("stream")}${after === null ? "" : `?after=${after}`}`, headers, enough);
  return { gateway, home, base, headers, get, say: say_, snapshot, stream };
}

const ended = (seen: readonly Streamed[]) =>
  seen.some(({ event }) => event.type === "item" && event.item.state === "done");
const roles = (snapshot: WireSnapshot) =>
  snapshot.entries.flatMap((entry) => ("message" in entry ? [(entry.message as { role: string }).role] : []));

test("status says what runs", async () => {
  const { get } = await started();
  expect((await get("/api/status")).json()).toMatchObject({
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    defaultSession: KEY,
    model: "scripted/script",
    rehearsal: false,
    agentId: "main",
  });
});

test("with wait the answer comes back, without it a durable receipt", async () => {
  const { say: send, snapshot, get } = await started();
  const answered = await send("hello");
  expect([answered.status, answered.json()]).toMatchObject([
    200,
    { answer: "hi", session: KEY, sessionId: expect.any(String), entryId: expect.any(String), durable: true },
  ]);
  const accepted = await send("again", { wait: false });
  expect([accepted.status, accepted.json()]).toMatchObject([
    202,
    { accepted: true, durable: true, item: { text: "again", clientKey: null } },
  ]);
  await vi.waitFor(async () => expect(roles(await snapshot())).toEqual(["user", "assistant", "user", "assistant"]));
  expect((await get("/api/sessions")).json()).toMatchObject({ sessions: [{ key: KEY }] });
});

test("Idempotency-Key: same answer, 422 for another body, 409 while it runs, both also without wait", async () => {
  const asked = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const model = scriptedModel(async () => {
    asked.resolve();
    await go.promise;
    return say("once");
  });
  const { say: send } = await started({ model });
  const first = send("hello", { key: "k1" });
  await asked.promise;
  const flying = await send("hello", { key: "k1" });
  expect([flying.status, flying.json()]).toMatchObject([409, { error: { code: "in_flight" } }]);
  expect((await send("hello", { key: "k1", wait: false })).status).toBe(202);
  expect((await send("other", { key: "k1" })).json()).toMatchObject({ error: { code: "idempotency_mismatch" } });
  go.resolve();
  const answer = (await first).json() as WireAnswer;
  const again = await send("hello", { key: "k1" });
  expect([again.status, again.json()]).toEqual([200, answer]);
  expect((await send("other", { key: "k1" })).status).toBe(422);
  expect((await send("hello", { key: "k1", wait: false })).json()).toMatchObject({ item: { state: "done" } });
  expect(model.requests).toHaveLength(1);
});

test("a conversation that has not begun is empty and is not made by asking", async () => {
  const { snapshot, get } = await started();
  expect(await snapshot()).toMatchObject({
    key: KEY,
    sessionId: null,
    entries: [],
    more: null,
    items: [],
    running: false,
  });
  expect((await get("/api/sessions")).json()).toEqual({ sessions: [] });
});

test("pages go back to the first entry, without gap or repetition", async () => {
  const { say: send, snapshot } = await started();
  for (const text of ["one", "two", "three"]) await send(text);
  const whole = await snapshot();
  const ids: string[] = [];
  for (let before: string | null = ""; before !== null; ) {
    const page: WireSnapshot = await snapshot(`?limit=2${before === "" ? "" : `&before=${before}`}`);
    ids.unshift(...page.entries.map(({ id }) => id));
    before = page.more;
  }
  expect(ids).toEqual(whole.entries.map(({ id }) => id));
  expect(whole.more).toBeNull();
});

test("snapshot and then stream show every entry once and say what is durable", async () => {
  const {
    say: send,
    snapshot,
    stream,
  } = await started({
    model: scriptedModel(() => say("a longer answer"), { pieceChars: 3 }),
  });
  const before = await snapshot();
  const watching = stream(before.cursor, ended);
  await send("hello");
  const seen = await watching;
  const entries = seen.flatMap(({ event }) => (event.type === "entries" ? event.entries.map(({ id }) => id) : []));
  expect(new Set(entries).size).toBe(entries.length);
  const after = (await snapshot()).entries.map(({ id }) => id);
  expect(after.filter((id) => entries.includes(id))).toEqual(entries);
  expect(after.slice(1)).toEqual(entries.slice(entries.length - after.length + 1));
  expect(seen.every(({ event }) => event.type !== "entries" || event.durable)).toBe(true);
  const text = seen.flatMap(({ event }) =>
    event.type === "delta" && event.delta.kind === "text" ? [event.delta.text] : [],
  );
  expect(text.join("")).toBe("a longer answer");
  const leaves = seen.flatMap(({ event }) => (event.type === "entries" ? [event.leaf] : []));
  expect(leaves.at(-1)).toBe((await snapshot()).leaf);
});

test("a client that was cut in the middle goes on with Last-Event-ID: nothing missed, nothing twice", async () => {
  const {
    say: send,
    snapshot,
    base,
    headers,
  } = await started({
    model: scriptedModel(() => say("answer in pieces"), { pieceChars: 2 }),
  });
  const url = base + path("stream");
  const { cursor } = await snapshot();
  const first = events(`${url}?after=${cursor}`, headers, (seen) => seen.length >= 4);
  await send("hello");
  const cut = (await first).slice(0, 4);
  const rest = await events(url, { ...headers, "last-event-id": cut.at(-1)!.id }, ended);
  const all = await events(`${url}?after=${cursor}`, headers, ended);
  expect([...cut, ...rest]).toEqual(all);
});

test("after a restart the old place is answered with snapshot", async () => {
  const { gateway, home, snapshot } = await started();
  const { cursor } = await snapshot();
  await gateway.stop();
  const second = await started({ home });
  const [first] = await second.stream(cursor, (seen) => seen.length > 0);
  expect(first?.event).toEqual({ type: "snapshot" });
});

test("what streamed and was withdrawn is said to be withdrawn", async () => {
  const {
    gateway,
    say: send,
    snapshot,
    stream,
  } = await started({
    model: scriptedModel([failed("bad_request", { after: "half" })]),
  });
  const { cursor } = await snapshot();
  const watching = stream(cursor, (seen) => seen.some(({ event }) => event.type === "withdrawn"));
  expect((await send("hello")).status).toBe(502);
  const seen = await watching;
  const half = seen.find(({ event }) => event.type === "delta")?.event;
  const gone = seen.find(({ event }) => event.type === "withdrawn")?.event;
  expect(half).toMatchObject({ durable: false });
  expect(gone).toMatchObject({ type: "withdrawn", answerId: (half as { answerId: string }).answerId });
  expect(gateway.address).not.toBeNull();
});

test("a stop ends waiting requests with a code, and streams", async () => {
  const asked = Promise.withResolvers<void>();
  const {
    gateway,
    say: send,
    stream,
  } = await started({
    model: scriptedModel(() => {
      asked.resolve();
      return stalled();
    }),
  });
  const waiting = send("hello").catch((error: unknown) => error);
  const watching = stream(null, () => false).catch(() => "cut");
  await asked.promise;
  await gateway.stop();
  const ending = await waiting;
  if (!(ending instanceof Error)) expect(ending).toMatchObject({ status: 503 });
  await watching;
});

test("a client that does not read is cut, not buffered for ever", async () => {
  const { gateway, base, headers } = await started();
  const response = await fetch(base + path("stream"), { headers });
  const big = { type: "withdrawn", answerId: "x".repeat(256 * 1024) } as const;
  for (let index = 0; index < 64; index++) gateway.hub.publish(KEY, big);
  let bytes = 0;
  const read = (async () => {
    for await (const piece of response.body!) bytes += piece.byteLength;
  })();
  await read.catch(() => undefined);
  expect(bytes).toBeLessThan(64 * 256 * 1024);
});
