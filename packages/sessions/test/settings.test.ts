/** Model and thinking level however far back they were set: compactions of ours say them, the index finds them. */
import { appendFile, readFile, rm } from "node:fs/promises";
import { realWorld } from "@holdfast/base";
import { fieldsOf, type NewEntry, type Session, type Sessions } from "@holdfast/sessions";
import { openSessionsOn } from "@holdfast/sessions/internal";
import { contextOfTranscript } from "@holdfast/sessions/keeping";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { countingDisk } from "./support/counting-disk.ts";
import { type TestDirectory, testDirectory } from "./support/directories.ts";
import { user } from "./support/entries.ts";
import { piContext } from "./support/pi.ts";

const KEY = "agent:main:main";
const MODEL = { provider: "p", modelId: "m" };
const compaction = (firstKeptEntryId: string, id: string): NewEntry => ({
  type: "compaction",
  id,
  summary: "before",
  firstKeptEntryId,
  tokensBefore: 1,
});

let directory: TestDirectory;
let sessions: Sessions;
let session: Session;
const { disk, taken } = countingDisk();

async function reopen(): Promise<void> {
  await sessions?.close();
  sessions = await openSessionsOn(disk, { directory: directory.path, fsync: "never" }, realWorld());
  session = await sessions.open(KEY);
}

beforeEach(async () => {
  directory = await testDirectory();
  await reopen();
  await session.append([
    { type: "model_change", ...MODEL },
    { type: "thinking_level_change", thinkingLevel: "high" },
    { ...user("one"), id: "q1" },
  ]);
});
afterEach(async () => {
  await sessions.close();
  await directory[Symbol.asyncDispose]();
});

/** What a new object over the file says, and what the file alone and Pi say. */
async function settings() {
  await reopen();
  const { model, thinkingLevel } = await session.context();
  const file = String(session.file);
  const alone = await contextOfTranscript(file);
  const pi = await piContext(file);
  expect([alone.model, alone.thinkingLevel]).toEqual([pi.model, pi.thinkingLevel]);
  return { model, thinkingLevel, pi: { model: pi.model, thinkingLevel: pi.thinkingLevel } };
}

async function inForceOf(at: Session, id: string): Promise<unknown> {
  const entry = await at.entry(id);
  return entry && fieldsOf(entry).inForce;
}

/** A thousand long messages of both sides, the last one the person's, and no word about the thinking level. */
async function sayMuch(prefix: string): Promise<void> {
  const content = [{ type: "text", text: "x".repeat(500) }];
  const by = { provider: MODEL.provider, model: MODEL.modelId, stopReason: "stop" };
  const answer: NewEntry = { type: "message", message: { role: "assistant", content, ...by } };
  const one = (n: number): NewEntry => ({ ...(n % 2 === 0 ? answer : user("x".repeat(500))), id: `${prefix}${n}` });
  await session.append(Array.from({ length: 1000 }, (_, n) => one(n)));
}

describe("a compaction says what is in force where it stands", () => {
  test("the next object finds it without reading further back, and so does the next compaction", async () => {
    await sayMuch("a");
    await session.append(compaction("a999", "c1"));
    const known = { model: MODEL, thinkingLevel: "high" };
    expect(await settings()).toEqual({ ...known, pi: known });
    await session.append([user("two"), { ...user("three"), id: "q3" }]);
    await session.append(compaction("q3", "c2"));
    expect(await settings()).toEqual({ ...known, pi: known });
    expect(session.path().map(({ id }) => id)).not.toContain("c1");
    expect(await inForceOf(session, "c2")).toEqual({ ...MODEL, thinkingLevel: "high" });
    taken(".jsonl");
    await reopen();
    expect((await session.context()).thinkingLevel).toBe("high");
    expect(taken(".jsonl")).toBeLessThan(400_000);
  });

  test("what comes after it counts, also in the same call; what was never set is off", async () => {
    await session.append([
      { type: "thinking_level_change", thinkingLevel: "low" },
      compaction("q1", "c1"),
      { type: "thinking_level_change", thinkingLevel: "minimal" },
    ]);
    expect(await inForceOf(session, "c1")).toEqual({ ...MODEL, thinkingLevel: "low" });
    expect((await settings()).thinkingLevel).toBe("minimal");
    const other = await sessions.open("agent:main:other");
    await other.append([{ ...user("q"), id: "q" }, compaction("q", "c")]);
    expect(await inForceOf(other, "c")).toEqual({ thinkingLevel: "off" });
  });

  test("of a branch that was left it says nothing", async () => {
    await session.append({ type: "thinking_level_change", thinkingLevel: "low" });
    await session.branch("q1");
    await session.append(compaction("q1", "c1"));
    expect((await settings()).thinkingLevel).toBe("high");
  });
});

describe("a compaction of another program does not", () => {
  async function compactedElsewhere(): Promise<void> {
    await sayMuch("a");
    const kept = { parentId: "a999", firstKeptEntryId: "a999", summary: "s", tokensBefore: 1 };
    const line = { type: "compaction", id: "theirs", timestamp: "2026-01-05T09:00:00.000Z", ...kept };
    await appendFile(String(session.file), `${JSON.stringify(line)}\n`);
  }

  test("the context says null, or finds it when asked to; a compaction of ours looks for it", async () => {
    await compactedElsewhere();
    const known = { model: MODEL, thinkingLevel: "high" };
    expect(await settings()).toEqual({ model: null, thinkingLevel: null, pi: known });
    expect(await session.context({ settings: true })).toMatchObject(known);
    expect(await session.context({ settings: true, leaf: "a5" })).toMatchObject(known);
    await session.append([{ ...user("on"), id: "on" }, compaction("on", "ours")]);
    expect(await settings()).toEqual({ ...known, pi: known });
  });

  test("a file alone is asked with the index beside it, and without", async () => {
    await compactedElsewhere();
    const file = String(session.file);
    const known = { model: MODEL, thinkingLevel: "high" };
    await rm(file.replace(".jsonl", ".idx"), { force: true });
    expect(await contextOfTranscript(file)).toMatchObject(known);
    await reopen();
    await session.tree.settings();
    expect((await readFile(file.replace(".jsonl", ".idx"))).length).toBeGreaterThan(40_000);
    taken(".jsonl");
    expect(await contextOfTranscript(file, {}, disk)).toMatchObject(known);
    expect(taken(".jsonl")).toBeLessThan(100_000);
    expect(await contextOfTranscript(file, { leaf: "a7" })).toMatchObject(known);
  });
});
