/** Histories that seemed to be gone elsewhere: another file opened, an index read half-way, a read model that stopped; ids as in the collection of cases. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { appendFile, readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { branchesOf, openSessions, type Sessions, type SessionsProblem } from "@holdfast/sessions";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TestDirectory, testDirectory } from "../support/directories.ts";
import { answer, user } from "../support/entries.ts";

const KEY = "agent:main:main";
let directory: TestDirectory;
const opened: Sessions[] = [];
const problems: SessionsProblem[] = [];

beforeEach(async () => {
  directory = await testDirectory();
  problems.length = 0;
});
afterEach(async () => {
  for (const sessions of opened.splice(0)) await sessions.close();
  await directory[Symbol.asyncDispose]();
});

async function open(): Promise<Sessions> {
  const onProblem = (problem: SessionsProblem) => void problems.push(problem);
  const sessions = await openSessions({ directory: directory.path, onProblem });
  opened.push(sessions);
  return sessions;
}
const at = (name: string): string => join(directory.path, name);

async function talked(keys: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const sessions = await open();
  const ids = new Map<string, string>();
  for (const key of keys) {
    await using session = await sessions.open(key);
    await session.append([user("hello"), answer("yes")]);
    ids.set(key, session.id);
  }
  await sessions.close();
  return ids;
}

test("B006 the store has one name whoever opens it; one of an unknown form is refused, never begun anew beside it", async () => {
  await talked([KEY]);
  const names = await readdir(directory.path);
  expect(names.filter((name) => /\d+\.\d+\.\d+|beta|nightly|dev/.test(name))).toEqual([]);
  const marked = JSON.parse(await readFile(at(".store.json"), "utf8")) as object;
  await writeFile(at(".store.json"), JSON.stringify({ ...marked, format: 99 }));
  const before = (await readdir(directory.path)).toSorted();
  await expect(open()).rejects.toMatchObject({ code: "store_newer" });
  expect((await readdir(directory.path)).toSorted()).toEqual(before);
});

test("B008 a file whose first line is no header is the session that its row and name say", async () => {
  const ids = await talked([KEY]);
  const file = at(`${ids.get(KEY)}.jsonl`);
  const text = await readFile(file, "utf8");
  await writeFile(file, `{"type":"label","id":"l1","parentId":null,"label":"x"}\n${text}`);
  for (const index of (await readdir(directory.path)).filter((name) => name.startsWith("sessions.")))
    await writeFile(at(index), "");
  const sessions = await open();
  await using session = await sessions.open(KEY);
  expect([session.id, (await session.context()).messages.length]).toEqual([ids.get(KEY), 2]);
});

test("B010 an id that a restart gave twice hides nothing that comes later, in the context, the tree or a page", async () => {
  const ids = await talked([KEY]);
  const file = at(`${ids.get(KEY)}.jsonl`);
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  const last = JSON.parse(lines.at(-1)!) as { id: string; message: object };
  const again = { ...last, parentId: last.id, message: { role: "user", content: "the other forty" } };
  const after = { type: "message", id: "m41", parentId: last.id, message: { role: "user", content: "forty-one" } };
  await appendFile(file, `${JSON.stringify(again)}\n${JSON.stringify(after)}\n`);
  const sessions = await open();
  await using session = await sessions.open(KEY);
  const { messages } = await session.context();
  expect(messages.slice(-2)).toMatchObject([{ content: "the other forty" }, { content: "forty-one" }]);
  for await (const newest of session.newestFirst()) {
    expect(newest.id).toBe("m41");
    break;
  }
  expect((await branchesOf(session).leaves()).map(({ id }) => id)).toContain("m41");
  await session.append([user("on")]);
  expect((await session.context()).messages.at(-1)).toMatchObject({ role: "user" });
});

const READER = `
  import { openSessions } from "@holdfast/sessions";
  const [directory, rounds, wanted] = process.argv.slice(2);
  let fewest = Infinity;
  for (let round = 0; round < Number(rounds); round++) {
    const sessions = await openSessions({ directory });
    fewest = Math.min(fewest, (await sessions.list()).length);
    await sessions.close();
  }
  process.send({ fewest, wanted });
`;

/** With rows so large that the index is folded every fifty updates. */
const SESSIONS = 24;

test("B012 whoever reads the index while it is written sees all sessions; an empty or half file makes no new one", async () => {
  const keys = Array.from({ length: SESSIONS }, (_, n) => `agent:main:telegram:direct:${n}`);
  const ids = await talked(keys);
  const script = at("reader.mts");
  await writeFile(script, READER.replace("@holdfast/sessions", new URL("../../src/index.ts", import.meta.url).href));
  const reader = fork(script, [directory.path, "3", String(SESSIONS)], { execArgv: ["--conditions=holdfast-src"] });
  const told = once(reader, "message");
  const writer = await open();
  let writing = true;
  const wrote = (async () => {
    for (let n = 0; writing; n++) await writer.update(keys[n % keys.length]!, { label: `${n} ${"x".repeat(20_000)}` });
  })();
  expect((await told)[0]).toMatchObject({ fewest: SESSIONS });
  writing = false;
  await wrote;
  await writer.close();
  for (const size of [0, 0.5]) {
    for (const name of (await readdir(directory.path)).filter((each) => each.startsWith("sessions.")))
      await truncate(at(name), Math.floor((await stat(at(name))).size * size));
    const sessions = await open();
    expect(await sessions.list()).toHaveLength(SESSIONS);
    expect((await sessions.get(keys[7]!))?.sessionId).toBe(ids.get(keys[7]!));
    await sessions.close();
  }
});

test("B020 an index of the right size that holds only zero bytes is kept aside, said, and made from the transcripts", async () => {
  const keys = Array.from({ length: 5 }, (_, n) => `agent:main:telegram:direct:${n}`);
  const ids = await talked(keys);
  for (const name of ["sessions.json", "sessions.json.bak"]) {
    const { size } = await stat(at(name));
    await writeFile(at(name), Buffer.alloc(size));
  }
  const sessions = await open();
  for (const key of keys) expect((await sessions.get(key))?.sessionId).toBe(ids.get(key));
  await sessions.close();
  expect(problems.length).toBeGreaterThan(0);
  const zeros = await Promise.all(
    (await readdir(directory.path)).map(async (name) => (await readFile(at(name))).every((byte) => byte === 0)),
  );
  expect(zeros).toContain(true);
  expect((await readFile(at("sessions.json"))).includes(keys[0]!)).toBe(true);
});

test("B152 a key that differs in case is another conversation, also after the index was made anew", async () => {
  const [small, large] = ["agent:main:matrix:channel:!abc", "agent:main:matrix:channel:!ABC"] as const;
  const ids = await talked([small]);
  for (const before of ["as it was", "made from the transcripts"]) {
    if (before !== "as it was") for (const name of ["sessions.json", "sessions.json.bak"]) await truncate(at(name), 0);
    const sessions = await open();
    expect((await sessions.get(small))?.sessionId, before).toBe(ids.get(small));
    expect(await sessions.get(large), before).toBeUndefined();
    await sessions.close();
  }
});
