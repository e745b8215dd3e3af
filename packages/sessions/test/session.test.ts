/** A session over real files: what is written, where it hangs, what is refused, and what others see. */
import { appendFile, readFile, rename, rm, truncate, writeFile } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSessions, type NewEntry, type Session, type SessionListener, type Sessions } from "@holdfast/sessions";
import { type TestDirectory, testDirectory } from "./support/directories.ts";
import { user, answer, call, result } from "./support/entries.ts";

const KEY = "agent:main:main";
let directory: TestDirectory;
let sessions: Sessions;
let session: Session;

beforeEach(async () => {
  directory = await testDirectory();
  sessions = await openSessions({ directory: directory.path, onProblem: () => {} });
  session = await sessions.open(KEY, { channel: "web", chatType: "direct" });
});
afterEach(async () => {
  await sessions.close();
  await directory[Symbol.asyncDispose]();
});

/** Another process's view: nothing in memory is shared. */
async function elsewhere<T>(work: (other: Session) => Promise<T>): Promise<T> {
  await using others = await openSessions({ directory: directory.path, onProblem: () => {} });
  return await work(await others.open(KEY));
}

async function lines(): Promise<Record<string, unknown>[]> {
  const text = await readFile(session.file ?? "", "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line): Record<string, unknown> => JSON.parse(line));
}

const append = async (entry: NewEntry | NewEntry[]): Promise<string> =>
  (await session.append(entry)).entries.at(-1)?.id ?? "";
const texts = async (one: Session): Promise<unknown[]> =>
  (await one.context()).messages.map((message) => message.content);

describe("append", () => {
  test("a new transcript says whose it is, and entries follow one another", async () => {
    const appended = await session.append([user("one"), user("two")]);
    expect(appended.durable).toBe(true);
    expect(session.found).toBe("new");
    const [header, about, one, two] = await lines();
    expect(header).toMatchObject({ type: "session", version: 3, id: session.id });
    expect(about).toMatchObject({
      customType: "holdfast:session",
      parentId: null,
      data: { key: KEY, agentId: "main", channel: "web", chatType: "direct" },
    });
    expect([one?.parentId, two?.parentId]).toEqual([about?.id, one?.id]);
    expect(appended.entries).toEqual([one, two]);
  });

  test("a hundred appends at once are written in call order, each exactly once", async () => {
    await Promise.all(Array.from({ length: 100 }, (_, n) => session.append(user(`n${n}`))));
    expect(await texts(session)).toEqual(Array.from({ length: 100 }, (_, n) => `n${n}`));
    expect(await elsewhere(texts)).toEqual(await texts(session));
  });

  test("an id that is there gives the entry that is there", async () => {
    const first = await session.append({ ...user("one"), id: "mine" });
    await append(user("two"));
    const again = await session.append({ ...user("changed"), id: "mine" });
    expect(again.entries).toEqual(first.entries);
    expect((await lines()).filter((line) => line.id === "mine")).toHaveLength(1);
    const other = await elsewhere((one) => one.append({ ...user("changed"), id: "mine" }));
    expect(other.entries).toEqual(first.entries);
    const both = await Promise.all([1, 2].map((n) => session.append({ ...user(`n${n}`), id: "both" })));
    expect(both[0]?.entries).toEqual(both[1]?.entries);
  });

  test("what the caller changes afterwards is not written", async () => {
    const message = { role: "user", content: "before" };
    const done = session.append({ type: "message", message });
    message.content = "after";
    await done;
    expect(await texts(session)).toEqual(["before"]);
  });

  test.each([
    ["no type", { message: {} }],
    ["g from outside", { ...user("x"), g: 7 }],
    ["t from outside", { ...user("x"), t: 7 }],
    ["a function", { type: "custom", customType: "x", data: { f: () => 1 } }],
    ["NaN", { type: "custom", customType: "x", data: Number.NaN }],
    [
      "a compaction that keeps nothing it knows",
      { type: "compaction", summary: "s", firstKeptEntryId: "nowhere", tokensBefore: 1 },
    ],
  ])("%s is bad_entry and leaves no trace", async (_name, entry) => {
    const before = await readFile(session.file ?? "", "utf8");
    const good = user("good");
    await expect(session.append([good, entry as NewEntry])).rejects.toMatchObject({ code: "bad_entry" });
    expect(await readFile(session.file ?? "", "utf8")).toBe(before);
    expect(await append(good)).not.toBe("");
  });

  test("a parent that is nowhere is entry_missing, and others in the same commit are written", async () => {
    const [bad, good] = await Promise.allSettled([
      session.append({ ...user("x"), parentId: "nowhere" }),
      session.append(user("good")),
    ]);
    expect(bad).toMatchObject({ status: "rejected", reason: { code: "entry_missing" } });
    expect(good.status).toBe("fulfilled");
    expect(await texts(session)).toEqual(["good"]);
  });
});

describe("calls and their results", () => {
  test("nothing enters the context between them, unless they are closed in the same append", async () => {
    await append(user("go"));
    const asked = await append(call("c1", "c2"));
    await expect(session.append(user("between"))).rejects.toMatchObject({ code: "calls_open" });
    await append({ type: "custom", customType: "holdfast:intent", data: {} });
    await append({ type: "label", targetId: asked, label: "x" });
    await append(result("c1", asked, 0));
    await expect(session.append(answer("done"))).rejects.toMatchObject({ code: "calls_open" });
    await session.append([result("c2", asked, 1), user("now")]);
    expect((await session.context()).messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "toolResult",
      "toolResult",
      "user",
    ]);
  });

  test("calls that another program left open block nobody", async () => {
    const { message } = call("foreign");
    const line = { type: "message", id: "f1", parentId: session.leaf(), timestamp: new Date(0).toISOString(), message };
    await appendFile(session.file ?? "", `${JSON.stringify(line)}\n`);
    expect((await session.append(user("go on"))).change).toBe("turn");
  });
});

describe("branches", () => {
  test("the choice is durable at once, and everybody continues there", async () => {
    const one = await append(user("one"));
    await append(user("two"));
    const moved = await session.branch(one, { reason: "again" });
    expect(moved.durable).toBe(true);
    expect(await elsewhere(texts)).toEqual(["one"]);
    await append(user("other two"));
    expect(await elsewhere(texts)).toEqual(["one", "other two"]);
    expect((await lines()).at(-2)).toMatchObject({
      customType: "holdfast:leaf",
      parentId: one,
      data: { reason: "again" },
    });
  });

  test("a choice that is not there is entry_missing", async () => {
    await expect(session.branch("nowhere")).rejects.toMatchObject({ code: "entry_missing" });
  });

  test("a late entry goes to its branch and the leaf stays", async () => {
    const one = await append(user("one"));
    const two = await append(user("two"));
    await session.branch(one);
    await append(user("here"));
    const leaf = session.leaf();
    const late = await session.append({ ...user("late"), parentId: two });
    expect(late.entries).toHaveLength(1);
    expect(late.entries[0]).toMatchObject({ parentId: two, returnTo: leaf });
    expect(await texts(session)).toEqual(["one", "here"]);
    expect(await elsewhere(texts)).toEqual(["one", "here"]);
    expect((await lines()).at(-1)).toMatchObject({ customType: "holdfast:leaf", parentId: leaf });
  });

  test("a late entry whose way back was cut by a crash: readers return, the next writer writes it", async () => {
    const one = await append(user("one"));
    const two = await append(user("two"));
    await session.branch(one);
    await session.append({ ...user("late"), parentId: two });
    const all = await readFile(session.file ?? "", "utf8");
    await sessions.close();
    await writeFile(session.file ?? "", all.slice(0, all.trimEnd().lastIndexOf("\n") + 30));
    await elsewhere(async (other) => {
      expect(await texts(other)).toEqual(["one"]);
      await other.append(user("next"));
      expect(await texts(other)).toEqual(["one", "next"]);
    });
    expect(await elsewhere(texts)).toEqual(["one", "next"]);
    const tail = (await readFile(session.file ?? "", "utf8")).trimEnd().split("\n").slice(-2);
    const [back, next] = tail.map((line): Record<string, unknown> => JSON.parse(line));
    expect(back).toMatchObject({ customType: "holdfast:leaf", data: { reason: "late" } });
    expect(next).toMatchObject({ parentId: back?.id });
  });

  test("an answer whose question is on another branch by now goes there", async () => {
    const question = await append(user("question"));
    await elsewhere(async (other) => {
      await other.branch(other.path()[0]?.id ?? "");
      await other.append(user("elsewhere"));
    });
    const late = await session.append({ ...answer("the answer"), answers: [question], seen: question });
    expect(late.change).toBe("branch");
    expect(late.entries[0]).toMatchObject({ parentId: question });
    expect(await texts(session)).toEqual(["elsewhere"]);
  });

  test("context of another leaf", async () => {
    const one = await append(user("one"));
    const two = await append(user("two"));
    await session.branch(one);
    expect((await session.context({ leaf: two })).messages.map(({ content }) => content)).toEqual(["one", "two"]);
    await expect(session.context({ leaf: "nowhere" })).rejects.toMatchObject({ code: "entry_missing" });
  });
});

describe("other writers", () => {
  test("what they add is taken in, classified and told", async () => {
    const told: Parameters<SessionListener>[0][] = [];
    using _listening = session.subscribe((event) => told.push(event));
    await elsewhere((other) => other.append({ type: "label", targetId: "x", label: "l" }));
    expect(await session.catchUp()).toBe("harmless");
    await elsewhere((other) => other.append(user("theirs")));
    const mine = await session.append(user("mine"));
    expect(mine.change).toBe("turn");
    expect(await session.catchUp()).toBe("none");
    expect(await texts(session)).toEqual(["theirs", "mine"]);
    expect(told.map(({ own, durable }) => [own, durable])).toEqual([
      [false, false],
      [false, false],
      [true, true],
    ]);
  });

  test("an entry they added a moment ago can be looked up, continued and branched from", async () => {
    const one = await append(user("one"));
    expect(await session.entry("nowhere")).toBeUndefined();
    const added = await elsewhere((other) => other.append([user("two"), user("three")]));
    const [two, three] = added.entries.map(({ id }) => id);
    expect((await session.entry(two ?? ""))?.parentId).toBe(one);
    await session.append({ ...user("four"), parentId: three });
    expect(await texts(session)).toEqual(["one", "two", "three", "four"]);
    const last = await elsewhere((other) => other.append(user("five")));
    await session.branch(last.entries[0]?.id ?? "");
    expect(await texts(session)).toEqual(["one", "two", "three", "four", "five"]);
  });

  test("a refusal counts only on ground that is real", async () => {
    const asked = await append(call("c1"));
    await elsewhere((other) => other.append(result("c1", asked, 0)));
    expect((await session.append(user("now"))).change).toBe("turn");
  });

  test("a file that shrank or changed is rewritten: nothing is written until it is opened again", async () => {
    await append(user("one"));
    const file = session.file ?? "";
    await truncate(file, (await readFile(file)).length - 5);
    const before = await readFile(file, "utf8");
    await expect(session.append(user("x"))).rejects.toMatchObject({ code: "rewritten" });
    await expect(session.append(user("x"))).rejects.toMatchObject({ code: "rewritten" });
    expect(await readFile(file, "utf8")).toBe(before);
    const again = await sessions.open(KEY);
    expect(again).not.toBe(session);
    await again.append(user("y"));
    expect(await texts(again)).toEqual(["y"]);
  });

  test("the same content under another inode is moved; a missing file is gone", async () => {
    await append(user("one"));
    const file = session.file ?? "";
    await writeFile(`${file}.copy`, await readFile(file));
    await rename(`${file}.copy`, file);
    expect((await session.append(user("two"))).change).toBe("moved");
    expect(await elsewhere(texts)).toEqual(["one", "two"]);
    await rm(file);
    await expect(session.append(user("three"))).rejects.toMatchObject({ code: "gone" });
  });

  test("a torn tail is sealed, kept and passed over", async () => {
    await append(user("one"));
    await appendFile(session.file ?? "", '{"type":"message","id":"torn","mess');
    await append(user("two"));
    expect(await texts(session)).toEqual(["one", "two"]);
    expect(await elsewhere(texts)).toEqual(["one", "two"]);
    expect(await readFile(session.file ?? "", "utf8")).toContain('"mess\n{');
  });

  test("a whole last line that only lacks its line feed is an entry", async () => {
    const parentId = await append(user("one"));
    const line = { ...user("theirs"), id: "theirs", parentId, timestamp: new Date(0).toISOString() };
    await appendFile(session.file ?? "", JSON.stringify(line));
    await append(user("two"));
    expect(await texts(session)).toEqual(["one", "theirs", "two"]);
    expect(await elsewhere(texts)).toEqual(["one", "theirs", "two"]);
  });

  test("a line that its writer completes while we look is not lost", async () => {
    const parentId = await append(user("one"));
    const line = JSON.stringify({ ...user("theirs"), id: "theirs", parentId, timestamp: new Date(0).toISOString() });
    await appendFile(session.file ?? "", line.slice(0, 40));
    await session.catchUp();
    await appendFile(session.file ?? "", `${line.slice(40)}\n`);
    await session.catchUp();
    expect(await texts(session)).toEqual(["one", "theirs"]);
  });
});

describe("turn rights", () => {
  test("a newer right stops the older one, in this process and in others", async () => {
    const first = await session.claimTurn("a", 1);
    expect(first.kind).toBe("claimed");
    if (first.kind !== "claimed") return;
    const { right } = first;
    const appended = await session.append(user("one"), { right });
    expect(appended.entries[0]?.t).toBe(right.t);
    await session.releaseTurn(right);
    await elsewhere((other) => other.claimTurn("b", 60_000));
    await expect(session.append(user("two"), { right })).rejects.toMatchObject({ code: "stale_turn" });
    expect(await session.renewTurn(right, 1000)).toBe(false);
    expect(await texts(session)).toEqual(["one"]);
    expect((await session.append(user("without a right"))).entries[0]?.t).toBeUndefined();
  });

  test("a lost lock file: the numbers are found in the log", async () => {
    const claim = await session.claimTurn("a", 60_000);
    if (claim.kind !== "claimed") throw new Error("not claimed");
    const { t } = claim.right;
    const data = { t, event: "begin" };
    const begun = await session.append({ type: "custom", customType: "holdfast:turn", data }, { right: claim.right });
    await rm(`${session.file}.lock`);
    const next = await elsewhere((other) => other.claimTurn("b", 60_000));
    expect(next).toMatchObject({ kind: "claimed", right: { t: t + 1 } });
    const after = await elsewhere((other) => other.append(user("x")));
    expect(Number(after.entries[0]?.g)).toBeGreaterThan(Number(begun.entries[0]?.g));
  });
});

describe("reading", () => {
  test("since, entry, forwards and backwards, on all branches", async () => {
    const one = await append(user("one"));
    const two = await append(user("two"));
    await session.branch(one);
    const three = await append(user("three"));
    const all = (await lines()).slice(1).map((line) => line.id);
    expect((await session.since(one)).map(({ id }) => id)).toEqual(all.slice(all.indexOf(one) + 1));
    expect((await session.since(null)).map(({ id }) => id)).toEqual(all);
    expect(await session.since(three)).toEqual([]);
    await expect(session.since("nowhere")).rejects.toMatchObject({ code: "entry_missing" });
    const oldest: string[] = [];
    for await (const entry of session.oldestFirst()) oldest.push(entry.id);
    const newest: string[] = [];
    for await (const entry of session.newestFirst()) newest.push(entry.id);
    expect([oldest, newest]).toEqual([all, all.toReversed()]);
    expect((await session.entry(two))?.id).toBe(two);
    expect(await elsewhere((other) => other.entry(two))).toEqual(await session.entry(two));
    expect(await session.entry("nowhere")).toBeUndefined();
  });
});
