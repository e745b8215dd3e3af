/** A fork: the same messages for the model, nothing of the original's rights and actions, calls that were open closed. */
import { appendFile, copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { labelEntry, openSessions, type Session, type Sessions } from "@holdfast/sessions";
import { verifyTranscript } from "@holdfast/sessions/internal";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type TestDirectory, testDirectory } from "./support/directories.ts";
import { answer, call, result, user } from "./support/entries.ts";

const FROM = "agent:main:telegram:group:1";
const TO = "agent:main:telegram:group:1:thread:2";
let directory: TestDirectory;
let sessions: Sessions;
let session: Session;

beforeEach(async () => {
  directory = await testDirectory();
  sessions = await openSessions({ directory: directory.path });
  session = await sessions.open(FROM, { channel: "telegram", chatType: "group" });
});
afterEach(async () => {
  await sessions.close();
  await directory[Symbol.asyncDispose]();
});

const ids = async (one: Session): Promise<readonly string[]> => (await one.context()).entryIds;
const messages = async (one: Session, leaf?: string): Promise<unknown> =>
  (await one.context(leaf === undefined ? {} : { leaf })).messages;

async function lines(one: Session): Promise<Record<string, unknown>[]> {
  const text = await readFile(one.file ?? "", "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line): Record<string, unknown> => JSON.parse(line));
}

test("the path is copied, other branches are not; where it came from is on record", async () => {
  await session.append([
    { ...user("one"), id: "q1" },
    { ...answer("two"), id: "a1" },
    { ...user("not this"), id: "x" },
  ]);
  await session.branch("a1");
  await session.append([
    { ...user("three"), id: "q2" },
    { ...answer("four"), id: "a2" },
  ]);
  const { row, from, closedCalls } = await sessions.keep.fork(FROM, TO);
  expect([from, closedCalls]).toEqual(["a2", 0]);
  expect(row).toMatchObject({
    channel: "telegram",
    chatType: "group",
    forkedFrom: { sessionId: session.id, entryId: "a2" },
  });
  await using copy = await sessions.open(TO);
  expect(await ids(copy)).toEqual(["q1", "a1", "q2", "a2"]);
  expect(await messages(copy)).toEqual(await messages(session));
  expect(copy.header).toMatchObject({ parentSession: session.file, id: copy.id });
  const [, about, ...rest] = await lines(copy);
  expect(about).toMatchObject({ customType: "holdfast:session", data: { key: TO, origin: { sessionId: session.id } } });
  expect(rest.map(({ id }) => id)).toEqual(["q1", "a1", "q2", "a2"]);
  expect((await verifyTranscript(copy.file ?? "")).ok).toBe(true);
  const inPi = join(directory.path, "copy-for-pi.txt");
  await copyFile(copy.file ?? "", inPi);
  expect(JSON.stringify(SessionManager.open(inPi).buildSessionContext().messages)).toBe(
    JSON.stringify(await messages(session)),
  );
});

test("from an entry in the middle, on any branch; each goes its own way afterwards", async () => {
  await session.append([
    { ...user("one"), id: "q1" },
    { ...answer("two"), id: "a1" },
    { ...user("three"), id: "q2" },
  ]);
  await session.branch("q1");
  await sessions.keep.fork(FROM, TO, { entryId: "a1" });
  await using copy = await sessions.open(TO);
  const before = await readFile(session.file ?? "");
  await copy.append({ ...user("only here"), id: "mine" });
  expect(await ids(copy)).toEqual(["q1", "a1", "mine"]);
  expect(await readFile(session.file ?? "")).toEqual(before);
});

test("numbers of turns and writers, and what was on record about actions, stay with the original", async () => {
  const claim = await session.claimTurn("me", 60_000);
  if (claim.kind !== "claimed") throw new Error("not claimed");
  const { right } = claim;
  await session.append({ type: "custom", customType: "holdfast:turn", data: { t: right.t } }, { right });
  await session.append(
    [
      { ...user("one"), id: "q1" },
      { ...call("c1"), id: "a1" },
    ],
    { right },
  );
  await session.append({ type: "custom", customType: "holdfast:intent", data: { key: "k" } }, { right });
  await session.append([result("c1", "a1", 0), { ...answer("done"), id: "a2" }], { right });
  await session.releaseTurn(right);
  await sessions.keep.fork(FROM, TO);
  await using copy = await sessions.open(TO);
  const kinds = (await lines(copy)).map((line) => line.customType).filter((kind) => kind !== undefined);
  expect(kinds).toEqual(["holdfast:session"]);
  expect((await lines(copy)).every((line) => line.t === undefined)).toBe(true);
  expect(await messages(copy)).toEqual(await messages(session));
  expect((await verifyTranscript(copy.file ?? "")).openCalls).toEqual([]);
});

test("calls that are open at the fork point are closed in the copy, and stay open in the original", async () => {
  await session.append([
    { ...user("do"), id: "q1" },
    { ...call("c1", "c2"), id: "a1" },
  ]);
  await session.append(result("c1", "a1", 0));
  const { closedCalls } = await sessions.keep.fork(FROM, TO);
  expect(closedCalls).toBe(1);
  await using copy = await sessions.open(TO);
  const last = (await copy.context()).messages.at(-1);
  expect(last).toMatchObject({ role: "toolResult", toolCallId: "c2", isError: true });
  expect(JSON.stringify(last)).toContain(`Not run here; this call belongs to session ${session.id}.`);
  await copy.append(user("go on"));
  expect((await verifyTranscript(session.file ?? "")).openCalls).toMatchObject([{ toolCallId: "c2" }]);
});

test("whole turns only: a question without its answer is left out, and so is half an exchange", async () => {
  await session.append([
    { ...user("one"), id: "q1" },
    { ...answer("two"), id: "a1" },
  ]);
  await session.append([
    { ...user("do"), id: "q2" },
    { ...call("c1"), id: "a2" },
  ]);
  const { from, closedCalls } = await sessions.keep.fork(FROM, TO, { wholeTurns: true });
  expect([from, closedCalls]).toEqual(["a1", 0]);
  await using copy = await sessions.open(TO);
  expect(await ids(copy)).toEqual(["q1", "a1"]);
});

test("a compaction keeps what it kept, also when its first kept entry stays behind", async () => {
  await session.append([
    { ...user("old"), id: "q1" },
    { ...answer("old too"), id: "a1" },
  ]);
  const move = (await session.branch("a1")).entries[0]?.id ?? "";
  await session.append([{ ...user("kept"), id: "q2" }]);
  await session.append({ type: "compaction", summary: "all", firstKeptEntryId: move, tokensBefore: 1 });
  await session.append([{ ...answer("after"), id: "a2" }]);
  await sessions.keep.fork(FROM, TO);
  await using copy = await sessions.open(TO);
  expect(await messages(copy)).toEqual(await messages(session));
  expect((await verifyTranscript(copy.file ?? "")).ok).toBe(true);
});

test("labels of what is copied come along, others do not", async () => {
  await session.append([
    { ...user("one"), id: "q1" },
    { ...answer("two"), id: "a1" },
  ]);
  await session.branch("q1");
  await labelEntry(session, "q1", "yes");
  await labelEntry(session, "a1", "no");
  await session.append(user("end"));
  await sessions.keep.fork(FROM, TO);
  await using copy = await sessions.open(TO);
  expect((await lines(copy)).filter(({ type }) => type === "label").map(({ label }) => label)).toEqual(["yes"]);
});

test("a late entry's way back leads nowhere in the copy and is not taken along", async () => {
  await session.append([
    { ...user("one"), id: "q1" },
    { ...answer("two"), id: "a1" },
  ]);
  await session.branch("q1");
  await session.append({ ...answer("late"), id: "late", parentId: "a1" });
  await sessions.keep.fork(FROM, TO, { entryId: "late" });
  await using copy = await sessions.open(TO);
  expect(await ids(copy)).toEqual(["q1", "a1", "late"]);
  await copy.append(user("next"));
  expect((await verifyTranscript(copy.file ?? "")).ok).toBe(true);
});

test("of a file of an older version and of a damaged one, what the model sees is copied", async () => {
  await session.append([{ ...user("one"), id: "q1" }]);
  const line = (fields: object): string => `${JSON.stringify({ timestamp: "2026-01-05T09:00:00.000Z", ...fields })}\n`;
  await appendFile(session.file ?? "", "{ broken\n");
  await appendFile(
    session.file ?? "",
    line({ type: "message", id: "q2", parentId: "nobody", message: { role: "user", content: "gap" } }),
  );
  await appendFile(session.file ?? "", line({ type: "message", message: { role: "user", content: "no id" } }));
  await session.catchUp();
  await sessions.keep.fork(FROM, TO);
  await using copy = await sessions.open(TO);
  expect((await copy.context()).messages.map(({ content }) => content)).toEqual(["one", "gap", "no id"]);
  expect((await verifyTranscript(copy.file ?? "")).ok).toBe(true);
});

test("what cannot be forked is refused, and nothing is left of the attempt", async () => {
  await session.append({ ...user("one"), id: "q1" });
  await expect(sessions.keep.fork(FROM, FROM)).rejects.toMatchObject({ code: "session_exists" });
  await expect(sessions.keep.fork("agent:main:nobody", TO)).rejects.toMatchObject({ code: "session_missing" });
  await expect(sessions.keep.fork(FROM, "no key")).rejects.toMatchObject({ code: "bad_key" });
  await expect(sessions.keep.fork(FROM, TO, { entryId: "nobody" })).rejects.toMatchObject({ code: "entry_missing" });
  expect(await sessions.get(TO)).toBeUndefined();
  expect((await sessions.list()).map(({ key }) => key)).toEqual([FROM]);
});

test("of two forks to one key at once one is there, whole", async () => {
  await session.append([
    { ...user("one"), id: "q1" },
    { ...answer("two"), id: "a1" },
  ]);
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => sessions.keep.fork(FROM, TO)));
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  await using copy = await sessions.open(TO);
  expect(await ids(copy)).toEqual(["q1", "a1"]);
});
