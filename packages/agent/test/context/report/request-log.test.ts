/** What is kept of requests: real files, real turns, damaged lines, and requests rebuilt byte for byte. */
import { appendFile, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { realWorld, sha256 } from "@holdfast/base";
import { type Entry, openSessions, requestsPath, type Sessions } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { rebuild } from "../../../src/context/report/format.ts";
import { createRequestLog, readRequests, storedMessage } from "../../../src/context/report/request-log.ts";
import type { RequestFacts, RequestLog, RequestPlace } from "../../../src/context/report/types.ts";
import { act, say, scriptedModel } from "../../../src/model/scripted.ts";
import { builtinTools } from "../../../src/tools/builtin.ts";
import { turn } from "../../../src/turn.ts";
import type { ModelRequest } from "../../../src/types.ts";
import { agentOf, KEY, laneOf } from "../../support/agent.ts";
import { temporaryWorkspace } from "../../support/workspace.ts";

const world = realWorld(() => {});
const NEVER = new AbortController().signal;
const refuse = (why: string): never => {
  throw new Error(why);
};
const newLog = (bytesMax?: number): RequestLog =>
  createRequestLog({ world, onProblem: refuse, ...(bytesMax === undefined ? {} : { bytesMax }) });

interface Home extends AsyncDisposable {
  readonly sessions: Sessions;
  readonly root: string;
  readonly workspace: string;
  /** Asks each question in a turn of its own; what the model got, in order. */
  ask(questions: readonly string[], requests?: RequestLog): Promise<readonly ModelRequest[]>;
  transcript(): Promise<string>;
}

async function home(): Promise<Home> {
  const space = await temporaryWorkspace({ world });
  const sessions = await openSessions({ directory: join(space.root, "sessions") }, world);
  const asked = { count: 0 };
  return {
    sessions,
    root: space.root,
    workspace: space.path,
    async ask(questions, requests = newLog()) {
      const seen: ModelRequest[] = [];
      for (const question of questions) {
        const model = scriptedModel([act("read", { path: "notes.md" }), say(`about ${question}`)]);
        const lane = laneOf(question, `web:local:me:${asked.count++}`);
        const agent = await agentOf({
          sessions,
          model,
          world,
          lane,
          root: space.root,
          workspace: space.path,
          tools: builtinTools(),
        });
        await turn(lane.item, { ...agent, requests }, NEVER);
        seen.push(...model.requests);
      }
      return seen;
    },
    async transcript() {
      await using session = await sessions.open(KEY);
      return session.file ?? refuse("no file");
    },
    async [Symbol.asyncDispose]() {
      await sessions.close();
      await space[Symbol.asyncDispose]();
    },
  };
}

async function rebuilt(on: Home): Promise<readonly unknown[]> {
  await using session = await on.sessions.open(KEY);
  const entries = new Map((await session.since(null)).map((entry): [string, Entry] => [entry.id, entry]));
  const { requests, texts } = await readRequests(session.file ?? "");
  return requests.map((request) => {
    const stored = (id: string): string | undefined => {
      const entry = entries.get(id);
      const message = entry === undefined ? undefined : storedMessage(entry);
      return message === undefined ? undefined : JSON.stringify(message);
    };
    const result = rebuild(request, texts, stored);
    return result.kind === "rebuilt" ? result.request : result;
  });
}

const bytesOf = ({ system, messages, tools }: Pick<ModelRequest, "system" | "messages" | "tools">) =>
  JSON.stringify({ system, messages, tools });

test("every request is rebuilt byte for byte, and what stands in the transcript is not kept twice", async () => {
  await using on = await home();
  await writeFile(join(on.workspace, "notes.md"), `a long note that is read ${"x".repeat(20_000)}`);
  const seen = await on.ask(["first", "第二项待办", "third"]);
  expect(seen).toHaveLength(6);
  expect((await rebuilt(on)).map((one) => bytesOf(one as ModelRequest))).toEqual(seen.map(bytesOf));
  const file = await readFile(requestsPath(await on.transcript()), "utf8");
  expect(file).not.toContain("a long note that is read");
  expect((await stat(requestsPath(await on.transcript()))).mode & 0o777).toBe(0o600);
});

test("a report has the parts with their tokens, the newest message, and how much is as in the request before", async () => {
  await using on = await home();
  await on.ask(["first", "second"]);
  const { requests } = await readRequests(await on.transcript());
  const reports = requests.map(({ report }) => report);
  expect(reports.map(({ n }) => n)).toEqual([1, 2, 3, 4]);
  const [first, second, , last] = reports;
  expect(first).toMatchObject({
    prefix: { with: null, bytes: 0 },
    model: "scripted/script",
    family: "own",
    messages: 1,
  });
  expect(second?.prefix).toMatchObject({ with: 1, head: true, messages: 1, extends: true });
  expect(second?.prefix.bytes).toBe(first?.bytes);
  expect(second?.prefix.sha256).toBe(first?.prefix.sha256);
  const { tokens } = last ?? refuse("no report");
  expect(tokens.total).toBe(tokens.system + tokens.tools + tokens.history + tokens.newest);
  expect(Object.values(tokens).every((count) => typeof count === "string" || count > 0)).toBe(true);
  expect(last?.sections.map(({ name }) => name)).toContain("Rules");
  expect(last?.tools.names).toContain("read");
  await using session = await on.sessions.open(KEY);
  const users = (await session.since(null)).filter((entry) => storedMessage(entry)?.role === "user");
  expect(last?.newest?.entryId).toBe(users.at(-1)?.id);
});

test("the number goes on after a restart, and what is kept is not kept again", async () => {
  await using on = await home();
  await on.ask(["first"]);
  const path = requestsPath(await on.transcript());
  const before = (await stat(path)).size;
  await on.ask(["second"], newLog());
  const text = await readFile(path, "utf8");
  expect((text.match(/^\{"piece"/gm) ?? []).length).toBe(new Set(text.match(/^\{"piece":"\w+/gm)).size);
  expect((await stat(path)).size).toBeLessThan(3 * before);
  expect((await readRequests(await on.transcript())).requests.map(({ report }) => report.n)).toEqual([1, 2, 3, 4]);
});

test("a kill in the middle of a line loses that report and no other", async () => {
  await using on = await home();
  await on.ask(["first"]);
  const path = requestsPath(await on.transcript());
  await truncate(path, (await stat(path)).size - 40);
  expect((await readRequests(await on.transcript())).requests.map(({ report }) => report.n)).toEqual([1]);
  await on.ask(["second"], newLog());
  const { head } = JSON.parse((await readFile(path, "utf8")).trimEnd().split("\n").at(-1) ?? "");
  const lost = { report: { n: 9 }, head, messages: { of: 99, keep: 4, add: [] } };
  const short = { report: { n: 10 }, head, messages: { of: 1, keep: 400, add: [] } };
  await appendFile(path, `${[lost, short].map((line) => JSON.stringify(line)).join("\n")}\n{"piece":"00`);
  await on.ask(["third"], newLog());
  const { requests } = await readRequests(await on.transcript());
  expect(requests.map(({ report }) => report.n)).toEqual([1, 2, 3, 4, 5]);
  expect((await rebuilt(on)).every((one) => typeof one === "object" && one !== null && "system" in one)).toBe(true);
});

test("a piece whose bytes were changed is not passed off as what was sent", async () => {
  await using on = await home();
  await on.ask(["first"]);
  const path = requestsPath(await on.transcript());
  const text = await readFile(path, "utf8");
  await writeFile(path, text.replace("a personal assistant", "a personal ASSISTANT"));
  expect((await rebuilt(on))[0]).toEqual({ kind: "incomplete", missing: ["Identity"] });
});

const place = (file: string, more: Partial<RequestPlace> = {}): RequestPlace => ({
  file,
  sessionId: "s",
  sessionKey: KEY,
  answerId: "a",
  model: "p/m",
  path: [],
  ...more,
});
const facts = (texts: readonly string[], system = "You help."): RequestFacts => ({
  request: {
    system,
    messages: texts.map((content) => ({ role: "user" as const, content })),
    tools: [],
    sessionId: "s",
  },
  family: "own",
  leaf: null,
  sections: [{ name: "All", text: system }],
  files: [],
  sources: texts.map(() => null),
  leftOut: Array.from({ length: 50 }, (_, at) => ({ id: `e${at}`, why: "compacted" })),
  changed: [],
  limits: { contextWindow: 8_000 },
});

test("the older half goes when the size is reached; what stays can be rebuilt, and numbers go on", async () => {
  await using space = await temporaryWorkspace({ world });
  const file = join(space.root, "s.jsonl");
  const bytesMax = 120_000;
  const log = newLog(bytesMax);
  const said: string[] = [];
  for (let n = 1; n <= 80; n++) {
    said.push(`message ${n} ${"x".repeat(1_000)}`);
    await log.record(place(file), facts(said.slice(-30)));
    expect((await stat(requestsPath(file))).size).toBeLessThan(1.2 * bytesMax);
  }
  const kept = await readRequests(file);
  expect(kept.requests.length).toBeGreaterThan(1);
  expect(kept.requests.at(-1)?.report.n).toBe(80);
  for (const request of kept.requests) {
    const result = rebuild(request, kept.texts, () => undefined);
    const from = Math.max(0, request.report.n - 30);
    expect(result.kind === "rebuilt" && result.request.messages).toEqual(
      said.slice(from, request.report.n).map((content) => ({ role: "user", content })),
    );
  }
});

test("a request whose earlier messages differ does not go on where the one before ended", async () => {
  await using space = await temporaryWorkspace({ world });
  const file = join(space.root, "s.jsonl");
  const log = newLog();
  for (const texts of [["a", "b"], ["a", "B", "c"], ["a"]]) await log.record(place(file), facts(texts));
  await log.record(place(file), facts(["a", "d"], "You help otherwise."));
  const reports = (await readRequests(file)).requests.map(({ report }) => report.prefix);
  expect(reports).toMatchObject([
    { with: null },
    { with: 1, head: true, messages: 1, extends: false },
    { with: 2, head: true, messages: 1, extends: false },
    { with: 3, head: false, messages: 0, extends: false, bytes: 0 },
  ]);
});

test("as much is kept as the transcript has, and some of a small one", async () => {
  await using space = await temporaryWorkspace({ world });
  const keptOf = async (name: string, transcriptBytes: number) => {
    const file = join(space.root, `${name}.jsonl`);
    await writeFile(file, "x".repeat(transcriptBytes));
    const log = newLog();
    for (let n = 1; n <= 12; n++) await log.record(place(file), facts([`${n} ${"y".repeat(60_000)}`]));
    return (await stat(requestsPath(file))).size;
  };
  expect(await keptOf("small", 10)).toBeLessThan(256 * 1024);
  expect(await keptOf("large", 5_000_000)).toBeGreaterThan(700_000);
});

test("a conversation of 400 messages costs a line for what is new, not one for each message", async () => {
  await using space = await temporaryWorkspace({ world });
  const file = join(space.root, "s.jsonl");
  const log = newLog();
  const said = Array.from({ length: 400 }, (_, at) => `message ${at}`);
  await log.record(place(file), facts(said));
  const before = (await stat(requestsPath(file))).size;
  await log.record(place(file), facts([...said, "one more"]));
  expect((await stat(requestsPath(file))).size - before).toBeLessThan(2_500);
});

test("what is too large for a piece is named by its digest and said to be missing", async () => {
  await using space = await temporaryWorkspace({ world });
  const file = join(space.root, "s.jsonl");
  const large = "y".repeat(300_000);
  await newLog().record(place(file), facts([large, "and?"]));
  const kept = await readRequests(file);
  expect((await stat(requestsPath(file))).size).toBeLessThan(5_000);
  expect(kept.requests[0]?.pieces.messages[0]?.sha256).toBe(sha256(JSON.stringify({ role: "user", content: large })));
  expect(rebuild(kept.requests[0] ?? refuse("none"), kept.texts, () => undefined)).toEqual({
    kind: "incomplete",
    missing: ["message 0"],
  });
});

test("many left out for one reason are counted", async () => {
  await using space = await temporaryWorkspace({ world });
  const file = join(space.root, "s.jsonl");
  await newLog().record(place(file), facts(["a"]));
  const [{ report } = refuse("none")] = (await readRequests(file)).requests;
  expect(report.leftOut).toEqual([
    { why: "compacted", count: 50, ids: Array.from({ length: 20 }, (_, at) => `e${at}`) },
  ]);
  expect(report.limits).toEqual({ contextWindow: 8_000 });
});

test("sections that do not join to what was sent are not believed", async () => {
  await using space = await temporaryWorkspace({ world });
  const file = join(space.root, "s.jsonl");
  await newLog().record(place(file), { ...facts(["a"]), sections: [{ name: "Other", text: "something else" }] });
  const kept = await readRequests(file);
  expect(kept.requests[0]?.report.sections.map(({ name }) => name)).toEqual(["system"]);
  expect(kept.texts.has(sha256("You help."))).toBe(true);
});

test("a report that cannot be kept is told, and the turn goes on", async () => {
  await using on = await home();
  const problems: string[] = [];
  const broken = createRequestLog({ world, onProblem: (why) => problems.push(why) });
  const elsewhere: RequestLog = { record: (at, made) => broken.record({ ...at, file: "/nowhere/at/all.jsonl" }, made) };
  const seen = await on.ask(["first"], elsewhere);
  expect(seen).toHaveLength(2);
  expect(problems).toHaveLength(2);
  expect(problems[0]).toMatch(/ENOENT/);
});

test("putting the conversation away and destroying it take the reports with them", async () => {
  await using on = await home();
  await on.ask(["first"]);
  const path = requestsPath(await on.transcript());
  expect((await stat(path)).size).toBeGreaterThan(0);
  await on.sessions.keep.clear(KEY);
  await expect(stat(path)).rejects.toThrow(/ENOENT/);
  // Left by a kill between the move of the transcript and that.
  await writeFile(path, '{"piece":"x","text":"a secret"}\n');
  await writeFile(`${path}.new`, '{"piece":"x","text":"a secret"}\n');
  await on.sessions.keep.purge(KEY);
  await expect(stat(path)).rejects.toThrow(/ENOENT/);
  await expect(stat(`${path}.new`)).rejects.toThrow(/ENOENT/);
});
