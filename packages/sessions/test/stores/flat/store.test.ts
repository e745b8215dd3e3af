/** Flat files read in place: conversations like others, until the first append makes a transcript of its own. */
import { appendFile, copyFile, mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSessions, RETENTION, type Sessions } from "@holdfast/sessions";
import { contextOfTranscript, importHistory, openImportPlace, verifyTranscript } from "@holdfast/sessions/internal";
import { describe, expect, test } from "vitest";
import { runChild } from "../../support/child.ts";
import { testDirectory } from "../../support/directories.ts";
import { user } from "../../support/entries.ts";
import { piContext } from "../../support/pi.ts";

const FIXTURE = fileURLToPath(new URL("../../fixtures/flat-telegram_123456.jsonl", import.meta.url));
const KEY = "agent:main:telegram:direct:123456";
/** What the model sees of the fixture: the summary stands for the first three. */
const SEEN = ["compact_001", "msg_004"];
const ALL = ["msg_001", "msg_002", "msg_003", "compact_001", "msg_004"];

interface Folders extends AsyncDisposable {
  readonly directory: string;
  readonly folder: string;
  readonly file: string;
  open(more?: { readonly agentId?: string }): Promise<Sessions>;
}

/** A sessions directory, and a folder with the fixture; `together`: both are the same. */
async function folders(together = false): Promise<Folders> {
  const root = await testDirectory();
  const [directory, folder] = [join(root.path, "sessions"), join(root.path, together ? "sessions" : "flat")];
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "telegram_123456.jsonl");
  await copyFile(FIXTURE, file);
  // An index without any row beside a transcript looks lost: so it does when the first row was about to be written.
  const onProblem = ({ code, what }: { readonly code: string; readonly what: string }): void => {
    if (code !== "rebuilt") throw new Error(`${code}: ${what}`);
  };
  return {
    directory,
    folder,
    file,
    open: (more = {}) => openSessions({ directory, flatDirectories: [folder], onProblem, ...more }),
    [Symbol.asyncDispose]: () => root[Symbol.asyncDispose](),
  };
}

const transcriptsIn = async (directory: string): Promise<readonly string[]> =>
  (await readdir(directory, { recursive: true })).filter((name) => /flat-.*\.jsonl(\.gz)?$/.test(name));

const said = async (sessions: Sessions, key = KEY): Promise<readonly string[]> => {
  await using session = await sessions.open(key);
  const ids: string[] = [];
  for await (const { id, type } of session.oldestFirst()) if (type !== "custom") ids.push(id);
  return ids;
};

describe.each([
  ["in a folder of its own", false],
  ["in the sessions directory itself", true],
])("%s", (_, together) => {
  test("looking writes nothing: the row, the list, the context", async () => {
    await using at = await folders(together);
    await using sessions = await at.open();
    const row = { sessionStartedAt: 1710000000000, lastInteractionAt: 1710001010000, updatedAt: 1710001010000 };
    expect(await sessions.get(KEY)).toMatchObject({ ...row, channel: "telegram", chatType: "direct" });
    expect(await sessions.list()).toMatchObject([{ key: KEY, row }]);
    await using session = await sessions.open(KEY);
    expect([session.found, (await session.context()).entryIds, session.leaf()]).toEqual(["resumed", SEEN, "msg_004"]);
    expect(await said(sessions)).toEqual(ALL);
    expect((await session.tree.leaves({ limit: 1 })).map(({ entry }) => entry.id)).toEqual(["msg_004"]);
    expect(await session.entry("msg_002")).toMatchObject({ message: { role: "assistant" } });
    expect(await transcriptsIn(at.directory)).toEqual([]);
    expect((await sessions.keep.cleanup({ ...RETENTION, maxBytes: 0 })).archived).toEqual([]);
    expect(await sessions.list()).toHaveLength(1);
  });

  test("the first append makes a transcript that this program and Pi read on in; the flat file stays", async () => {
    await using at = await folders(together);
    await using sessions = await at.open();
    const session = await sessions.open(KEY);
    expect(await session.append({ ...user("more"), id: "own" })).toMatchObject({ durable: true });
    expect((await session.context()).entryIds).toEqual([...SEEN, "own"]);
    await session.append({ ...user("and more"), id: "own-2" });
    expect(session.file).toBe(join(at.directory, `${session.id}.jsonl`));
    const file = String(session.file);
    expect(await readFile(at.file)).toEqual(await readFile(FIXTURE));
    expect(await verifyTranscript(file)).toMatchObject({ ok: true, entries: 8 });
    const { messages, entryIds } = await contextOfTranscript(file);
    expect(entryIds).toEqual([...SEEN, "own", "own-2"]);
    expect((await piContext(file)).messages).toEqual(messages);
    expect(JSON.parse((await readFile(file, "utf8")).split("\n")[0] ?? "")).toMatchObject({ parentSession: at.file });
    expect(await transcriptsIn(at.directory)).toEqual([`${session.id}.jsonl`]);
    expect((await sessions.list()).map(({ key }) => key)).toEqual([KEY]);
    await rm(at.file);
    expect(await said(sessions)).toEqual([...ALL, "own", "own-2"]);
  });

  test("a conversation that was ended does not come back; one that was put away does", async () => {
    await using at = await folders(together);
    await using sessions = await at.open();
    expect(await sessions.keep.archive(KEY)).toMatchObject({ kind: "archived" });
    expect(await said(sessions)).toEqual(ALL);
    const { id } = await sessions.open(KEY);
    expect(await sessions.keep.clear(KEY)).toMatchObject({ kind: "archived" });
    expect([await sessions.get(KEY), await sessions.list()]).toEqual([undefined, []]);
    expect(await said(sessions)).toEqual([]);
    expect(await sessions.keep.restore(id, `${KEY}:before`)).toMatchObject({ key: `${KEY}:before` });
    expect(await said(sessions, `${KEY}:before`)).toEqual(ALL);
  });
});

test("a reset begins anew and keeps what was said in the archive", async () => {
  await using at = await folders();
  await using sessions = await at.open();
  expect((await sessions.keep.reset(KEY)).before).toMatchObject({ kind: "archived" });
  expect(await said(sessions)).toEqual([]);
  expect((await sessions.list()).map(({ key }) => key)).toEqual([KEY]);
});

test("a fork copies it and leaves it as it is", async () => {
  await using at = await folders();
  await using sessions = await at.open();
  await sessions.keep.fork(KEY, "agent:main:main");
  expect((await (await sessions.open("agent:main:main")).context()).messages).toHaveLength(2);
  expect(await transcriptsIn(at.directory)).toEqual([]);
});

test("a change of the row makes the transcript too: a process that knows nothing of the folder finds what was said", async () => {
  await using at = await folders();
  {
    await using sessions = await at.open();
    expect(await sessions.update(KEY, { label: "the translator" })).toMatchObject({ label: "the translator" });
  }
  await using sessions = await openSessions({ directory: at.directory });
  expect([(await sessions.get(KEY))?.label, await said(sessions)]).toEqual(["the translator", ALL]);
});

test("what the old program adds is seen until the conversation is taken over", async () => {
  await using at = await folders();
  await using sessions = await at.open();
  const session = await sessions.open(KEY);
  const line = { id: "msg_005", parentId: "msg_004", role: "assistant", content: "好", timestamp: 1710001020 };
  await appendFile(at.file, `${JSON.stringify(line)}\n`);
  expect(await session.catchUp()).toBe("turn");
  const { change } = await session.append({ ...user("on"), id: "own" });
  expect([change, (await session.context()).entryIds]).toEqual(["none", [...SEEN, "msg_005", "own"]]);
  await appendFile(at.file, `${JSON.stringify({ ...line, id: "msg_006", parentId: "msg_005" })}\n`);
  expect(await said(sessions)).toEqual([...ALL, "msg_005", "own"]);
});

test("an append on what the old program changed meanwhile is refused, and nothing is made of it", async () => {
  await using at = await folders();
  await using sessions = await at.open();
  const session = await sessions.open(KEY);
  await writeFile(at.file, (await readFile(at.file, "utf8")).replace("再来一段", "不要了"));
  await expect(session.append(user("on"))).rejects.toMatchObject({ code: "rewritten" });
  expect((await (await sessions.open(KEY)).context()).entryIds).toEqual(SEEN);
});

test("two processes that write first at the same time have one transcript, with both entries", async () => {
  await using at = await folders();
  const names = ["a", "b", "c"];
  const write = (name: string) => runChild("./flat-writer.ts", [at.directory, at.folder, KEY, name]);
  const ended = await Promise.all(names.map(write));
  expect(ended.map(({ lines, stderr }) => [lines, stderr])).toEqual(names.map(() => [["done"], ""]));
  await using sessions = await at.open();
  const ids = await said(sessions);
  expect([ids.slice(0, 5), ids.slice(5).toSorted()]).toEqual([ALL, names]);
  expect(await transcriptsIn(at.directory)).toHaveLength(1);
});

/** All points are all that `kill@n` reaches; usually those between the steps of the taking over: a process each. */
const IS_LARGE = process.env.HOLDFAST_LARGE === "1";
const STEPS = ["index:before-write#1", "index:after-sync#1", "transcript:before-write#1", "transcript:after-sync#1"];

test("killed at any point of the first append, nothing is doubled and nothing is lost", async () => {
  for (let n = 1; ; n++) {
    await using at = await folders();
    const args = [at.directory, at.folder, KEY, "own"];
    const point = IS_LARGE ? String(n) : (STEPS[n - 1] ?? "1000");
    const { signal } = await runChild("./flat-writer.ts", args, { env: { HOLDFAST_FAULT: `kill@${point}` } });
    await using sessions = await at.open();
    expect(
      (await sessions.list()).map(({ key }) => key),
      `killed at ${point}`,
    ).toEqual([KEY]);
    const session = await sessions.open(KEY);
    await session.append({ ...user("on"), id: "own" });
    expect(await said(sessions), `killed at ${point}`).toEqual([...ALL, "own"]);
    expect(await transcriptsIn(at.directory), `killed at ${point}`).toEqual([`${session.id}.jsonl`]);
    expect(await readFile(at.file)).toEqual(await readFile(FIXTURE));
    if (signal !== null) continue;
    expect(n).toBeGreaterThan(STEPS.length);
    break;
  }
}, 60_000);

test("one that was imported before is not there twice", async () => {
  await using at = await folders();
  {
    await using place = await openImportPlace(at.directory, () => {});
    await importHistory(place, { file: at.file, key: KEY });
  }
  await using sessions = await at.open();
  expect((await sessions.list()).map(({ key }) => key)).toEqual([KEY]);
  expect(await said(sessions)).toEqual(ALL);
});

test("the index can be lost: each transcript made of a flat file names its key", async () => {
  await using at = await folders();
  {
    await using sessions = await at.open();
    await (await sessions.open(KEY)).append({ ...user("on"), id: "own" });
  }
  for (const name of await readdir(at.directory)) {
    if (name.startsWith("sessions.")) await rm(join(at.directory, name));
  }
  await using sessions = await openSessions({
    directory: at.directory,
    flatDirectories: [at.folder],
    onProblem: () => {},
  });
  expect(await said(sessions)).toEqual([...ALL, "own"]);
});

test("which files: names of one channel and one person that hold such messages; the first folder counts", async () => {
  await using at = await folders();
  const other = join(dirname(at.folder), "other");
  await mkdir(other);
  const files = {
    "signal_7_8.jsonl": '{"id":"s1","role":"user","content":"hi","timestamp":1710000000}\n',
    "telegram_123456.jsonl": '{"id":"x","role":"user","content":"hi","timestamp":1800000000}\n',
    "telegram_1.jsonl": '{"type":"session","version":3,"id":"x"}\n',
    "telegram_2.jsonl": "",
    "telegram_..jsonl": '{"id":"s1","role":"user","content":"hi","timestamp":1710000000}\n',
    "notes.jsonl": '{"id":"s1","role":"user","content":"hi","timestamp":1710000000}\n',
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(other, name), text);
  await mkdir(join(other, "web_3.jsonl"));
  await symlink(other, join(at.folder, "linked"));
  const flatDirectories = [at.folder, join(at.folder, "linked"), other];
  await using sessions = await openSessions({ directory: at.directory, flatDirectories, agentId: "work" });
  const keys = ["agent:work:telegram:direct:123456", "agent:work:signal:direct:7_8"];
  expect((await sessions.list()).map(({ key }) => key)).toEqual(keys);
  expect((await sessions.list({ limit: 1 })).map(({ key }) => key)).toEqual(keys.slice(0, 1));
  expect((await sessions.list({ prefix: "agent:work:signal" })).map(({ key }) => key)).toEqual(keys.slice(1));
  for (const key of [KEY, "agent:work:telegram:group:123456", "agent:work:a/b:direct:1", "agent:work:web:direct:3"]) {
    expect(await sessions.get(key), key).toBeUndefined();
  }
});

test("a folder that is not there is refused by name", async () => {
  await using at = await folders();
  const flatDirectories = [join(at.folder, "gone")];
  await expect(openSessions({ directory: at.directory, flatDirectories })).rejects.toMatchObject({
    code: "file_missing",
    details: { path: flatDirectories[0] },
  });
});
