/** Whole conversations put away, got back, ended and begun anew, over real files; facts are read from the directory. */
import { copyFile, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { openSessions, type Session, type Sessions } from "@holdfast/sessions";
import { contextOfTranscript } from "@holdfast/sessions/internal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runChild } from "../support/child.ts";
import { type TestDirectory, testDirectory } from "../support/directories.ts";
import { answer, call, user } from "../support/entries.ts";

const KEY = "agent:main:telegram:direct:7";
let directory: TestDirectory;
let sessions: Sessions;

beforeEach(async () => {
  directory = await testDirectory();
  sessions = await openSessions({ directory: directory.path, onProblem: unexpected });
});
afterEach(async () => {
  await sessions.close();
  await directory[Symbol.asyncDispose]();
});

function unexpected(problem: unknown): never {
  throw new Error(JSON.stringify(problem));
}

async function talk(...texts: readonly string[]): Promise<Session> {
  const session = await sessions.open(KEY);
  for (const text of texts) await session.append([user(text), answer(`re: ${text}`)]);
  return session;
}
const spoken = async (session: Session): Promise<unknown[]> =>
  (await session.context()).messages.filter(({ role }) => role === "user").map(({ content }) => content);
const archive = async (): Promise<string[]> => (await readdir(join(directory.path, "archive"))).toSorted();
const live = async (): Promise<string[]> =>
  (await readdir(directory.path)).filter((name) => name.endsWith(".jsonl") && !name.startsWith("sessions."));

describe("archive", () => {
  test("the transcript goes, packed; the row stays, points to it and is still listed", async () => {
    const session = await talk("one");
    const before = await readFile(session.file ?? "");
    const updatedAt = (await sessions.get(KEY))?.updatedAt;
    const outcome = await sessions.keep.archive(KEY);
    expect(outcome).toMatchObject({
      kind: "archived",
      file: expect.stringMatching(/^archive\/.+\.archive\.\d{8}T\d{9}Z\.jsonl$/),
    });
    expect(await live()).toEqual([]);
    expect(await archive()).toHaveLength(1);
    const [row] = await sessions.list();
    expect(row).toMatchObject({ key: KEY, row: { sessionId: session.id, archivedAt: expect.any(Number), updatedAt } });
    const packed = join(directory.path, "archive", (await archive())[0] ?? "");
    expect((await stat(packed)).mode & 0o777).toBe(0o600);
    expect((await stat(join(directory.path, "archive"))).mode & 0o777).toBe(0o700);
    const text = gunzipSync(await readFile(packed));
    expect(text.subarray(0, before.length)).toEqual(before);
    expect(String(text.subarray(before.length))).toContain("holdfast:closed");
  });

  test("a message brings it back whole and goes on, in this process and in another", async () => {
    const session = await talk("one");
    const before = await readFile(session.file ?? "");
    await sessions.keep.archive(KEY);
    const again = await talk("two");
    expect([again.id, again.found]).toEqual([session.id, "resumed"]);
    expect(await spoken(again)).toEqual(["one", "two"]);
    expect((await readFile(again.file ?? "")).subarray(0, before.length)).toEqual(before);
    expect(await archive()).toEqual([]);
    expect(await sessions.get(KEY)).not.toHaveProperty("archivedAt");
    await sessions.keep.archive(KEY);
    await using others = await openSessions({ directory: directory.path, onProblem: unexpected });
    await using there = await others.open(KEY);
    expect(await spoken(there)).toEqual(["one", "two"]);
    await there.append(user("three"));
    expect(await live()).toHaveLength(1);
  });

  test("an object that was open meanwhile is told, writes nothing, and opening again goes on", async () => {
    const session = await talk("one");
    await sessions.keep.archive(KEY);
    await expect(session.append(user("late"))).rejects.toMatchObject({ code: "gone" });
    expect(await spoken(await talk("two"))).toEqual(["one", "two"]);
  });

  test("an archived conversation can be looked at where it is", async () => {
    await talk("one");
    await sessions.keep.archive(KEY);
    const row = await sessions.get(KEY);
    const { messages } = await contextOfTranscript(join(directory.path, row?.sessionFile ?? ""));
    expect(messages).toHaveLength(2);
    expect(await archive()).toHaveLength(1);
  });

  test("what is worked on, or waits for a result or an answer, stays", async () => {
    const session = await talk("one");
    const claim = await session.claimTurn("somebody", 60_000);
    expect(await sessions.keep.archive(KEY)).toEqual({ kind: "kept", why: "running" });
    if (claim.kind === "claimed") await session.releaseTurn(claim.right);
    await session.append({ ...call("c1"), id: "asked" });
    expect(await sessions.keep.archive(KEY)).toEqual({ kind: "kept", why: "open_calls" });
    const closed = { toolCallId: "c1", toolName: "write", content: [], isError: true };
    await session.append({
      type: "message",
      call: { entryId: "asked", ordinal: 0 },
      message: { role: "toolResult", ...closed },
    });
    await session.append({
      type: "custom",
      customType: "holdfast:approval",
      data: { key: "k", digest: "d", asked: 1 },
    });
    expect(await sessions.keep.archive(KEY)).toEqual({ kind: "kept", why: "open_approvals" });
    await session.append({ type: "custom", customType: "holdfast:approval", data: { key: "k", answered: "yes" } });
    expect(await sessions.keep.archive(KEY)).toMatchObject({ kind: "archived" });
  });

  test("twice is once; without a conversation it is missing", async () => {
    await talk("one");
    const first = await sessions.keep.archive(KEY);
    expect(await sessions.keep.archive(KEY)).toEqual(first);
    await expect(sessions.keep.archive("agent:main:nobody")).rejects.toMatchObject({ code: "session_missing" });
  });

  test("the turn numbers go on after it came back", async () => {
    const session = await talk("one");
    const first = await session.claimTurn("a", 1000);
    if (first.kind === "claimed") await session.releaseTurn(first.right);
    await sessions.keep.archive(KEY);
    const next = await (await sessions.open(KEY)).claimTurn("b", 1000);
    if (first.kind !== "claimed" || next.kind !== "claimed") throw new Error("not claimed");
    expect(next.right.t).toBeGreaterThan(first.right.t);
  });
});

describe("clear", () => {
  test("the transcript is kept, the row goes, the key begins anew, and it can be had back", async () => {
    const session = await talk("one");
    expect(await sessions.keep.clear(KEY)).toMatchObject({
      kind: "archived",
      file: expect.stringContaining(".clear."),
    });
    expect(await sessions.get(KEY)).toBeUndefined();
    const next = await talk("new");
    expect([next.found, await spoken(next)]).toEqual(["new", ["new"]]);
    await expect(sessions.keep.restore(session.id)).rejects.toMatchObject({ code: "session_exists" });
    expect(await archive()).toHaveLength(1);
    await sessions.keep.clear(KEY);
    const back = await sessions.keep.restore(session.id);
    expect(back).toMatchObject({ key: KEY, row: { sessionId: session.id } });
    expect(await spoken(await talk("two"))).toEqual(["one", "two"]);
  });

  test("what is open is ended, on record, and whether an action happened is not made up", async () => {
    const session = await talk("one");
    await session.append({ ...call("c1"), id: "asked" });
    await session.append({
      type: "custom",
      customType: "holdfast:approval",
      data: { key: "k", digest: "d", asked: 1 },
    });
    expect(await sessions.keep.clear(KEY)).toMatchObject({ kind: "archived" });
    const [name] = await archive();
    const text = gunzipSync(await readFile(join(directory.path, "archive", name ?? ""))).toString();
    const last = text
      .trimEnd()
      .split("\n")
      .slice(-2)
      .map((line): Record<string, unknown> => JSON.parse(line));
    expect(last).toMatchObject([
      { customType: "holdfast:approval", data: { key: "k", digest: "d", answered: "no", by: "clear" } },
      { customType: "holdfast:closed", data: { reason: "clear", ended: { calls: [{ toolCallId: "c1" }] } } },
    ]);
    expect(text).not.toContain("toolResult");
  });

  test("a running one stays; one without a transcript, and an archived one, are cleared too", async () => {
    const session = await talk("one");
    const claim = await session.claimTurn("somebody", 60_000);
    expect(await sessions.keep.clear(KEY)).toEqual({ kind: "kept", why: "running" });
    expect(await sessions.get(KEY)).toBeDefined();
    if (claim.kind === "claimed") await session.releaseTurn(claim.right);
    await sessions.keep.archive(KEY);
    expect(await sessions.keep.clear(KEY)).toMatchObject({
      kind: "archived",
      file: expect.stringContaining(".clear."),
    });
    expect(await archive()).toHaveLength(1);
    const other = await sessions.open("agent:main:other");
    await rm(other.file ?? "");
    await sessions.keep.clear("agent:main:other");
    expect(await sessions.list()).toEqual([]);
  });
});

describe("reset", () => {
  test("the key goes on anew with what was chosen; the old transcript is kept and names its successor", async () => {
    const session = await talk("one");
    await sessions.update(KEY, { thinkingLevel: "high", status: "done", label: "work" });
    const { row, before } = await sessions.keep.reset(KEY, "new");
    expect(before).toMatchObject({ kind: "archived", file: expect.stringContaining(".reset.") });
    expect(row).toMatchObject({
      thinkingLevel: "high",
      label: "work",
      previousSessionId: session.id,
      resetReason: "new",
    });
    expect(row.sessionId).not.toBe(session.id);
    expect(row).not.toHaveProperty("leaving");
    const next = await talk("new");
    expect([next.id, await spoken(next)]).toEqual([row.sessionId, ["new"]]);
    const text = gunzipSync(await readFile(join(directory.path, "archive", (await archive())[0] ?? ""))).toString();
    expect(text.trimEnd().split("\n").at(-1)).toContain(`"successor":"${row.sessionId}"`);
  });

  test("while something of the old one is open it stays, still takes what belongs to it, and goes later", async () => {
    const session = await talk("one");
    await session.append({ ...call("c1"), id: "asked" });
    const { row, before } = await sessions.keep.reset(KEY);
    expect(before).toEqual({ kind: "kept", why: "open_calls" });
    expect(row.leaving).toEqual([{ id: session.id, file: `${session.id}.jsonl` }]);
    expect((await talk("new")).id).toBe(row.sessionId);
    const closed = { toolCallId: "c1", toolName: "write", content: [], isError: false };
    await session.append({
      type: "message",
      call: { entryId: "asked", ordinal: 0 },
      message: { role: "toolResult", ...closed },
    });
    await sessions.keep.cleanup({ maxAgeMs: null, maxBytes: null, backgroundMax: null });
    expect(await archive()).toHaveLength(1);
    expect(await sessions.get(KEY)).not.toHaveProperty("leaving");
    expect(await live()).toEqual([`${row.sessionId}.jsonl`]);
  });

  test("of an archived conversation, too", async () => {
    await talk("one");
    await sessions.keep.archive(KEY);
    const { before } = await sessions.keep.reset(KEY);
    expect(before).toMatchObject({ kind: "archived", file: expect.stringContaining(".reset.") });
    expect(await archive()).toHaveLength(1);
  });
});

describe("restore", () => {
  test("by key, without a message", async () => {
    const session = await talk("one");
    await sessions.keep.archive(KEY);
    expect(await sessions.keep.restore(KEY)).toMatchObject({ key: KEY, row: { sessionFile: `${session.id}.jsonl` } });
    expect(await live()).toEqual([`${session.id}.jsonl`]);
    expect(await spoken(await sessions.open(KEY))).toEqual(["one"]);
  });

  test("one that does not say whose it is needs a key", async () => {
    const session = await talk("one");
    const text = await readFile(session.file ?? "", "utf8");
    const strange = join(directory.path, "s-9.jsonl");
    await copyFile(session.file ?? "", strange);
    await writeFile(
      strange,
      text
        .split("\n")
        .filter((line) => !line.includes("holdfast:session"))
        .join("\n"),
    );
    await expect(sessions.keep.restore("s-9")).rejects.toMatchObject({ code: "key_unknown" });
    await sessions.keep.restore("s-9", "agent:main:other");
    expect(await spoken(await sessions.open("agent:main:other"))).toEqual(["one"]);
    await expect(sessions.keep.restore("nobody")).rejects.toMatchObject({ code: "session_missing" });
  });
});

test("what a person ended stays ended, also when the row was still there or the index is lost", async () => {
  const session = await talk("one");
  await sessions.close();
  const env = { HOLDFAST_FAULT: "kill@archive:after-rename#1" };
  expect((await runChild("./keeper.ts", [directory.path, "clear", KEY], { env })).signal).toBe("SIGKILL");
  sessions = await openSessions({ directory: directory.path, onProblem: unexpected });
  expect(await sessions.get(KEY)).toMatchObject({ sessionId: session.id });
  const next = await talk("new");
  expect([next.id === session.id, await spoken(next)]).toEqual([false, ["new"]]);
  await sessions.keep.clear(KEY);
  await sessions.close();
  for (const name of await readdir(directory.path)) {
    if (name.startsWith("sessions.")) await rm(join(directory.path, name));
  }
  sessions = await openSessions({ directory: directory.path, onProblem: unexpected });
  expect(await sessions.list()).toEqual([]);
  expect(await archive()).toHaveLength(2);
});

describe("a rebuilt index", () => {
  test("knows what is archived, and not what a person ended", async () => {
    const ended = await talk("ended");
    await sessions.keep.clear(KEY);
    await talk("reset");
    await sessions.keep.reset(KEY);
    const current = await talk("current");
    await sessions.keep.archive(KEY);
    const other = await sessions.open("agent:main:other");
    await other.append(user("here"));
    await sessions.close();
    for (const name of await readdir(directory.path)) {
      if (name.startsWith("sessions.")) await rm(join(directory.path, name));
    }
    sessions = await openSessions({ directory: directory.path, onProblem: () => {} });
    const rows = await sessions.list();
    expect(rows.map(({ key }) => key).toSorted()).toEqual(["agent:main:other", KEY].toSorted());
    expect(await sessions.get(KEY)).toMatchObject({
      sessionId: current.id,
      sessionFile: expect.stringContaining("archive/"),
    });
    expect(ended.id).not.toBe(current.id);
    expect(await spoken(await talk("next"))).toEqual(["current", "next"]);
  });
});
