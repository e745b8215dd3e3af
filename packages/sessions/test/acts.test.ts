/** The acts of a person on a tree, over real files: what the model sees afterwards, here and in Pi, and what is refused. */
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import {
  answerAgain,
  branchWithSummary,
  editAndResend,
  editContext,
  labelEntry,
  openSessions,
  renameSession,
  type Session,
  type Sessions,
} from "@holdfast/sessions";
import { treeOfTranscript } from "@holdfast/sessions/internal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type TestDirectory, testDirectory } from "./support/directories.ts";
import { answer, user } from "./support/entries.ts";

let directory: TestDirectory;
let sessions: Sessions;
let session: Session;

beforeEach(async () => {
  directory = await testDirectory();
  sessions = await openSessions({ directory: directory.path });
  session = await sessions.open("agent:main:main");
  await session.append([
    { ...user("hello"), id: "q1" },
    { ...answer("hi"), id: "a1" },
    { ...user("how"), id: "q2" },
    { ...answer("so"), id: "a2" },
  ]);
});
afterEach(async () => {
  await sessions.close();
  await directory[Symbol.asyncDispose]();
});

/** What Pi shows the model, from a copy: Pi writes to files it opens. */
async function inPi(): Promise<string> {
  const copy = join(directory.path, "copy-for-pi.txt");
  await copyFile(session.file ?? "", copy);
  return JSON.stringify(SessionManager.open(copy).buildSessionContext().messages);
}
async function here(): Promise<string> {
  return JSON.stringify((await session.context()).messages);
}
const ids = async (): Promise<readonly string[]> => (await session.context()).entryIds;

describe("three acts on a message", () => {
  test("answering again from an answer or its question stands at the question", async () => {
    for (const from of ["a2", "q2"]) expect((await answerAgain(session, from)).question).toBe("q2");
    expect(await ids()).toEqual(["q1", "a1", "q2"]);
    expect(await inPi()).toBe(await here());
  });

  test("answering again where nothing was asked is refused and writes nothing", async () => {
    const root = session.path()[0]?.id ?? "";
    const before = await readFile(session.file ?? "");
    await expect(answerAgain(session, root)).rejects.toMatchObject({ code: "bad_entry" });
    await expect(answerAgain(session, "nobody")).rejects.toMatchObject({ code: "entry_missing" });
    expect(await readFile(session.file ?? "")).toEqual(before);
  });

  test("an edited message is new: the key of the one that arrived stays with that one", async () => {
    await session.append({ type: "message", id: "q3", message: { role: "user", content: "third", key: "tg:1:2:3" } });
    const { entries } = await editAndResend(session, "q3", "third, better", { timestamp: 5 });
    expect(entries.at(-1)).toMatchObject({ message: { role: "user", content: "third, better", timestamp: 5 } });
    expect(JSON.stringify(entries.at(-1))).not.toContain("tg:1:2:3");
    expect((await ids()).slice(0, 4)).toEqual(["q1", "a1", "q2", "a2"]);
    expect(await ids()).toHaveLength(5);
    expect(await inPi()).toBe(await here());
  });

  test("only a user message can be edited", async () => {
    await expect(editAndResend(session, "a1", "no")).rejects.toMatchObject({ code: "bad_entry" });
  });

  test("a message that was compacted away can be branched from and edited", async () => {
    const fields = { summary: "all", firstKeptEntryId: "a2", tokensBefore: 1 };
    await session.append({ type: "compaction", ...fields });
    await session.branch("a1");
    expect(await ids()).toEqual(["q1", "a1"]);
    await editAndResend(session, "q1", "other");
    expect(await ids()).toHaveLength(1);
    expect(await inPi()).toBe(await here());
  });
});

describe("Pi stands where we stand", () => {
  test("after a branch and what was written on it, after another answer, after an edit of the first message", async () => {
    await session.branch("q1");
    expect(await inPi()).toBe(await here());
    await session.append({ ...user("in an easy tone"), id: "q3" });
    expect([await ids(), await inPi()]).toEqual([["q1", "q3"], await here()]);
    await answerAgain(session, "a1");
    await session.append({ ...answer("hello again"), id: "a3" });
    expect([await ids(), await inPi()]).toEqual([["q1", "a3"], await here()]);
    await editAndResend(session, "q1", "good morning");
    expect([(await session.context()).messages.map(({ content }) => content), await inPi()]).toEqual([
      ["good morning"],
      await here(),
    ]);
  });
});

describe("what else people do", () => {
  test("a summary of the branch that was left reaches the model in its place", async () => {
    await branchWithSummary(session, "a1", { text: "we tried so" });
    expect((await session.context()).messages.map(({ role }) => role)).toEqual(["user", "assistant", "branchSummary"]);
    expect((await session.context()).messages.at(-1)).toMatchObject({ fromId: "a2", summary: "we tried so" });
    expect(await inPi()).toBe(await here());
    await branchWithSummary(session, null, { text: "anew" });
    expect((await session.context()).messages.map(({ role }) => role)).toEqual(["branchSummary"]);
  });

  test("labels name entries on any branch, and are taken back", async () => {
    await session.branch("a1");
    await labelEntry(session, "a2", "the\ngood one");
    const labelOf = async (id: string) => {
      const { nodes } = await treeOfTranscript(session.file ?? "");
      return nodes.find((node) => node.id === id)?.label;
    };
    expect(await labelOf("a2")).toBe("the good one");
    expect(await ids()).toEqual(["q1", "a1"]);
    await labelEntry(session, "a2", "");
    expect(await labelOf("a2")).toBeNull();
    await expect(labelEntry(session, "nobody", "x")).rejects.toMatchObject({ code: "entry_missing" });
  });

  test("a name is a name in Pi too", async () => {
    await renameSession(session, " to-dos\nof the week ");
    const copy = join(directory.path, "copy-for-pi.txt");
    await copyFile(session.file ?? "", copy);
    expect(SessionManager.open(copy).getSessionName()).toBe("to-dos of the week");
  });

  test("an edit changes what the model gets, on this branch, as in Pi; the entry stays", async () => {
    await editContext(session, "a1", { content: "shorter" });
    await editContext(session, "q2", null);
    expect((await session.context()).messages[1]).toMatchObject({ content: [{ type: "text", text: "shorter" }] });
    expect(await ids()).toEqual(["q1", "a1", "a2"]);
    expect(await inPi()).toBe(await here());
    expect(await session.entry("a1")).toMatchObject({ message: { content: [{ type: "text", text: "hi" }] } });
    await session.branch("a2");
    expect((await session.context()).messages).toHaveLength(4);
  });

  test("what is not on the branch, gives the model nothing, or is not there cannot be edited", async () => {
    const root = session.path()[0]?.id ?? "";
    await expect(editContext(session, root, null)).rejects.toMatchObject({ code: "bad_entry" });
    await expect(editContext(session, "nobody", null)).rejects.toMatchObject({ code: "entry_missing" });
    await session.branch("a1");
    await expect(editContext(session, "a2", null)).rejects.toMatchObject({ code: "bad_entry" });
  });

  test("what was compacted away is still on the path and can be edited", async () => {
    await session.append({ type: "compaction", summary: "all", firstKeptEntryId: "a2", tokensBefore: 1 });
    await sessions.close();
    sessions = await openSessions({ directory: directory.path });
    session = await sessions.open("agent:main:main");
    expect(session.path().some(({ id }) => id === "q1")).toBe(false);
    await expect(editContext(session, "q1", null)).resolves.toBeDefined();
  });
});
