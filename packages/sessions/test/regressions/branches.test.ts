/** Branches, forks, edits and rewinds that went wrong elsewhere; ids as in the collection of cases. */
import { appendFile } from "node:fs/promises";
import {
  answerAgain,
  branchesOf,
  editContext,
  isBackground,
  openSessions,
  type Session,
  type Sessions,
} from "@holdfast/sessions";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TestDirectory, testDirectory } from "../support/directories.ts";
import { answer, user } from "../support/entries.ts";

const KEY = "agent:main:main";
let directory: TestDirectory;
let sessions: Sessions;
let session: Session;

beforeEach(async () => {
  directory = await testDirectory();
  sessions = await openSessions({ directory: directory.path });
  session = await sessions.open(KEY);
});
afterEach(async () => {
  await sessions.close();
  await directory[Symbol.asyncDispose]();
});

const q = (id: string) => ({ ...user(id), id });
const a = (id: string) => ({ ...answer(id), id });
async function seen(): Promise<readonly string[]> {
  await using others = await openSessions({ directory: directory.path });
  await using one = await others.open(KEY);
  return (await one.context()).entryIds;
}

test("B154 a farewell written under an old leaf does not hide what was said since", async () => {
  await session.append([q("m1"), a("m2")]);
  const farewell = { type: "custom", customType: "exit", parentId: "m2", id: "k9" };
  await using others = await openSessions({ directory: directory.path });
  await using other = await others.open(KEY);
  await other.append([q("m3"), a("m4")]);
  await session.append(farewell);
  expect(await seen()).toEqual(["m1", "m2", "m3", "m4"]);
});

test("B154 written by a program that moves the leaf so, as the format says, the other branch is listed and one step away", async () => {
  await session.append([q("m1"), a("m2"), q("m3"), a("m4")]);
  const line = { type: "custom", customType: "exit", id: "k9", parentId: "m2", timestamp: "2026-01-05T09:00:00.000Z" };
  await appendFile(session.file ?? "", `${JSON.stringify(line)}\n`);
  expect(await session.catchUp()).toBe("branch");
  const other = (await branchesOf(session).leaves()).find(({ current }) => !current);
  expect(other).toMatchObject({ id: "m4", depth: 4, differs: { words: "m3" } });
  await session.branch(other?.id ?? "");
  expect(await seen()).toEqual(["m1", "m2", "m3", "m4"]);
});

test("B156 helpers' sessions are told from people's, whoever wrote last", async () => {
  await session.append(q("m1"));
  await sessions.update(KEY, { lastInteractionAt: 1 });
  const helper = "agent:main:subagent:1";
  await sessions.keep.fork(KEY, helper);
  await (await sessions.open(helper)).append(a("late"));
  await sessions.update(helper, { status: "running" });
  const listed = await sessions.list();
  expect(listed[0]?.key).toBe(helper);
  expect(listed.find(({ key, row }) => !isBackground(key, row))?.key).toBe(KEY);
});

test("B158 a thread knows nothing of its channel by default, and whole turns when it inherits", async () => {
  const channel = "agent:main:discord:channel:9";
  const from = await sessions.open(channel);
  for (const n of [1, 2, 3]) await from.append([q(`q${n}`), a(`a${n}`)]);
  await from.append(q("between"));
  const alone = await sessions.open(`${channel}:thread:1`);
  expect((await alone.context()).messages).toEqual([]);
  await sessions.keep.fork(channel, `${channel}:thread:2`, { wholeTurns: true });
  const inherited = await sessions.open(`${channel}:thread:2`);
  expect((await inherited.context()).entryIds).toEqual(["q1", "a1", "q2", "a2", "q3", "a3"]);
});

test("B159 a fork has its context from the transcript; what is kept for the original's provider is not the copy's", async () => {
  await session.append([q("m1"), a("m2")]);
  await session.append({ type: "custom", customType: "holdfast:provider", data: { conversation: "native-1" } });
  await sessions.update(KEY, { cliSessionIds: { claude: "native-1" } });
  const { row } = await sessions.keep.fork(KEY, "agent:main:copy");
  const copy = await sessions.open("agent:main:copy");
  expect((await copy.context()).entryIds).toEqual(["m1", "m2"]);
  expect(JSON.stringify([row, await copy.since(null)])).not.toContain("native-1");
});

test("B160 after a rewind the old end is listed, selectable, and the rewind can be undone", async () => {
  for (let n = 1; n <= 10; n++) await session.append([q(`q${n}`), a(`a${n}`)]);
  const { entries } = await session.branch("a4");
  await session.append(q("q5b"));
  const leaves = await branchesOf(session).leaves();
  expect(leaves.map(({ id, current }) => [id, current])).toEqual([
    ["a10", false],
    ["q5b", true],
  ]);
  const { from } = (entries[0] as { data?: { from?: string } }).data ?? {};
  await session.branch(from ?? "");
  expect((await seen()).at(-1)).toBe("a10");
});

test("B162 an id that nobody stored is refused and leaves nothing; a message that was compacted is known", async () => {
  await session.append([q("m1"), a("m2"), q("m3"), a("m4")]);
  await session.append({ type: "compaction", summary: "all", firstKeptEntryId: "m4", tokensBefore: 1 });
  const before = (await session.since(null)).length;
  await expect(session.append({ ...q("m5"), parentId: "tmp-1" })).rejects.toMatchObject({ code: "entry_missing" });
  await expect(session.branch("tmp-1")).rejects.toMatchObject({ code: "entry_missing" });
  await expect(answerAgain(session, "tmp-1")).rejects.toMatchObject({ code: "entry_missing" });
  expect(await session.since(null)).toHaveLength(before);
  await session.branch("m1");
  expect(await seen()).toEqual(["m1"]);
});

test("B164 a question that was left while its answer came: the answer goes to it, the conversation stays where it is", async () => {
  await session.append([q("m7"), a("m8"), q("m9")]);
  await session.branch("m8");
  await session.append({ ...a("m10"), answers: ["m9"], seen: "m9" });
  expect(await seen()).toEqual(["m7", "m8"]);
  expect(await session.entry("m10")).toMatchObject({ parentId: "m9" });
  await session.branch("m9");
  await editContext(session, "m9", null);
  expect(await seen()).toEqual(["m7", "m8"]);
});

test("B166 the chosen branch is chosen after everything was closed, and the next message continues it", async () => {
  await session.append(q("ask"));
  for (let n = 1; n <= 5; n++) {
    await answerAgain(session, "ask");
    await session.append(a(`s${n}`));
  }
  await session.branch("s2");
  await (await sessions.open("agent:main:other")).append(q("elsewhere"));
  await sessions.close();
  sessions = await openSessions({ directory: directory.path });
  session = await sessions.open(KEY);
  await session.append(q("next"));
  expect(await seen()).toEqual(["ask", "s2", "next"]);
});
