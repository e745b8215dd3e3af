/** The verdict table: what becomes of a call that was interrupted, case by case, with the effects counted on disk. */
import { mkdirSync, readdirSync } from "node:fs";
import { appendFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tryFileLock } from "@holdfast/base";
import { describe, expect, test } from "vitest";
import { act, say } from "../src/model/scripted.ts";
import type { Effect, Tool } from "../src/types.ts";
import { dataOf, entriesOf, KEY, laneOf, outline, resultsOf } from "./support/agent.ts";
import { type Stage, stage } from "./support/stage.ts";

const WRITE = { path: "todo.md", content: "1. 写周报\n" };
const SCRIPT = [act("write", WRITE)];

async function fileOf(on: Stage): Promise<string | null> {
  return readFile(join(on.path, WRITE.path), "utf8").catch(() => null);
}

/** A tool without a probe that counts its effects on disk. */
function counting(on: Stage, effect: Effect, more: Partial<Tool> = {}): ReadonlyMap<string, Tool> {
  const tool: Tool = {
    spec: { name: "ring", description: "", parameters: {} },
    effect,
    check: () => null,
    async run(_args, _evidence, { key }) {
      await appendFile(join(on.path, "bell"), `${key}\n`);
      return { ok: true, text: "rung" };
    },
    ...more,
  };
  return new Map([["ring", tool]]);
}

async function rings(on: Stage): Promise<readonly string[]> {
  const text = await readFile(join(on.path, "bell"), "utf8").catch(() => "");
  return text.split("\n").filter(Boolean);
}

describe("interrupted, then gone on with", () => {
  const cases: readonly (readonly [
    string,
    string,
    (on: Stage) => Promise<unknown>,
    { verdict: string; file: string; isError: boolean; attempts: number },
  ])[] = [
    [
      "before the intent",
      "action:before-record",
      async () => {},
      { verdict: "not_started", file: WRITE.content, isError: false, attempts: 1 },
    ],
    [
      "before the effect",
      "effect:before:write",
      async () => {},
      { verdict: "absent", file: WRITE.content, isError: false, attempts: 2 },
    ],
    [
      "after the effect",
      "effect:after:write",
      async () => {},
      { verdict: "happened", file: WRITE.content, isError: false, attempts: 1 },
    ],
    [
      "before the effect, and somebody wrote meanwhile",
      "effect:before:write",
      (on) => writeFile(join(on.path, WRITE.path), "theirs"),
      { verdict: "conflict", file: "theirs", isError: true, attempts: 1 },
    ],
    [
      "after the effect, and somebody wrote meanwhile",
      "effect:after:write",
      (on) => writeFile(join(on.path, WRITE.path), "theirs"),
      { verdict: "conflict", file: "theirs", isError: true, attempts: 1 },
    ],
  ];
  test.each(cases)("%s", async (_name, at, meanwhile, expected) => {
    await using on = await stage();
    const lane = laneOf("save");
    await on.crash(lane, SCRIPT, at);
    await meanwhile(on);
    expect(await on.run(lane, [say("So it is.")])).toMatchObject({ kind: "replied" });
    const entries = await entriesOf(on.sessions);
    expect(dataOf(entries, "verdict")).toMatchObject([{ verdict: expected.verdict, by: "probe" }]);
    const intents = dataOf(entries, "intent");
    expect(intents.map((intent) => intent.attempt)).toEqual(
      Array.from({ length: expected.attempts }, (_, index) => index + 1),
    );
    expect(new Set(intents.map((intent) => `${intent.key} ${intent.resultId}`)).size).toBe(1);
    const results = resultsOf(entries);
    expect(results).toMatchObject([{ isError: expected.isError }]);
    expect(await fileOf(on)).toBe(expected.file);
    const isFound = expected.verdict === "happened" || expected.verdict === "conflict";
    const holdfast = { verdict: expected.verdict, synthetic: true, evidence: { planned: expect.any(String) } };
    if (isFound)
      expect(results).toMatchObject([
        { details: { holdfast }, content: [{ text: expect.stringMatching(/^\[Recovered\]/) }] },
      ]);
    else expect(results[0]?.details).toBeUndefined();
  });

  test("after the result: it is taken as it is", async () => {
    await using on = await stage();
    const lane = laneOf("save");
    await on.crash(lane, SCRIPT, "action:after-record");
    await on.crash(lane, [], "model:before-ask");
    await on.run(lane, [say("Saved.")]);
    expect(outline(await entriesOf(on.sessions)).filter((word) => word === "toolResult")).toHaveLength(1);
  });

  test("interrupted again and again: one key, one result, attempts counted", async () => {
    await using on = await stage();
    const lane = laneOf("save");
    await on.crash(lane, SCRIPT, "effect:before:write");
    await on.crash(lane, [], "effect:before:write");
    await on.crash(lane, [], "effect:after:write");
    await on.run(lane, [say("Saved.")]);
    const entries = await entriesOf(on.sessions);
    expect(dataOf(entries, "intent").map((intent) => intent.attempt)).toEqual([1, 2, 3]);
    expect(dataOf(entries, "verdict").map((data) => data.verdict)).toEqual(["absent", "absent", "happened"]);
    expect(resultsOf(entries)).toHaveLength(1);
  });
});

describe("tools that cannot be asked", () => {
  test("opaque: unknown, not repeated, and the same call is not made again in this turn", async () => {
    await using on = await stage();
    const lane = laneOf("ring");
    const tools = counting(on, "opaque");
    await on.crash(lane, [act("ring", { n: 1 })], "effect:after:ring", { tools });
    await on.run(lane, [act("ring", { n: 1 }), say("I do not know.")], { tools });
    expect(await rings(on)).toHaveLength(1);
    const results = resultsOf(await entriesOf(on.sessions));
    expect(results).toMatchObject([
      { isError: true, details: { holdfast: { verdict: "unknown", synthetic: true } } },
      { isError: true, content: [{ text: expect.stringMatching(/outcome is not settled/) }] },
    ]);
    await on.run(laneOf("yes, again", "k2"), [act("ring", { n: 1 }), say("Done.")], { tools });
    expect(await rings(on)).toHaveLength(2);
  });

  test("idempotent: repeated under the same key", async () => {
    await using on = await stage();
    const lane = laneOf("ring");
    const tools = counting(on, "idempotent");
    await on.crash(lane, [act("ring")], "effect:after:ring", { tools });
    await on.run(lane, [say("Rung.")], { tools });
    const keys = await rings(on);
    expect([keys.length, new Set(keys).size]).toEqual([2, 1]);
    expect(resultsOf(await entriesOf(on.sessions))).toMatchObject([{ isError: false }]);
  });

  test("declared idempotent now, opaque when it was called: the stricter word counts", async () => {
    await using on = await stage();
    const lane = laneOf("ring");
    await on.crash(lane, [act("ring")], "effect:after:ring", { tools: counting(on, "opaque") });
    await on.run(lane, [say("?")], { tools: counting(on, "idempotent") });
    expect(await rings(on)).toHaveLength(1);
  });

  test("a tool that is gone by now: unknown", async () => {
    await using on = await stage();
    const lane = laneOf("ring");
    await on.crash(lane, [act("ring")], "effect:after:ring", { tools: counting(on, "idempotent") });
    await on.run(lane, [say("?")], { tools: new Map() });
    expect(dataOf(await entriesOf(on.sessions), "verdict")).toMatchObject([{ verdict: "unknown" }]);
  });

  test("started from another home: unknown, whatever this one's probe would say", async () => {
    await using on = await stage();
    const lane = laneOf("save");
    await on.crash(lane, SCRIPT, "effect:before:write", { home: { id: "home-2" } });
    await on.run(lane, [say("?")]);
    expect(dataOf(await entriesOf(on.sessions), "verdict")).toMatchObject([
      { verdict: "unknown", evidence: { home: "home-2" } },
    ]);
    expect(await fileOf(on)).toBeNull();
  });

  test("a tool that only reads leaves no intent and is read again", async () => {
    await using on = await stage();
    const lane = laneOf("ring");
    const tools = counting(on, "none");
    await on.crash(lane, [act("ring")], "action:before-record", { tools });
    await on.run(lane, [say("Read.")], { tools });
    const entries = await entriesOf(on.sessions);
    expect([dataOf(entries, "intent").length, dataOf(entries, "verdict").length, (await rings(on)).length]).toEqual([
      0, 0, 2,
    ]);
  });

  test("a prepare that fails is an ordinary error: nothing was started", async () => {
    await using on = await stage();
    const tools = counting(on, "opaque", { prepare: () => Promise.reject(new Error("no entry")) });
    await on.run(laneOf("ring"), [act("ring"), say("No.")], { tools });
    const entries = await entriesOf(on.sessions);
    expect(resultsOf(entries)).toMatchObject([{ isError: true, content: [{ text: "Nothing was done: no entry" }] }]);
    expect([dataOf(entries, "intent").length, (await rings(on)).length]).toEqual([0, 0]);
  });
});

describe("repeats", () => {
  test("found to have happened: not made again at once, but after other work it is a new act", async () => {
    await using on = await stage();
    const lane = laneOf("run");
    const command = { command: "echo ran >> bell" };
    await on.crash(lane, [act("exec", command)], "effect:after:exec");
    await on.run(lane, [act("exec", command), act("write", WRITE), act("exec", command), say("Done.")]);
    expect(await rings(on)).toHaveLength(2);
  });

  test("ordinary results do not stop the next call: write A, write B, write A", async () => {
    await using on = await stage();
    const other = { ...WRITE, content: "B" };
    await on.run(laneOf("save"), [act("write", WRITE), act("write", other), act("write", WRITE), say("Done.")]);
    expect(resultsOf(await entriesOf(on.sessions)).map((result) => result.isError)).toEqual([false, false, false]);
    expect(await fileOf(on)).toBe(WRITE.content);
  });
});

describe("locks and permissions", () => {
  test("an action in other hands makes the item wait, and nothing is completed", async () => {
    await using on = await stage();
    const lane = laneOf("save");
    await on.crash(lane, SCRIPT, "effect:after:write");
    const [key] = readdirSync(join(on.root, "actions"));
    using held = tryFileLock(join(on.root, "actions", key ?? "", "lock"));
    expect(held).toBeDefined();
    expect(await on.run(lane, [say("?")])).toMatchObject({ kind: "busy" });
    expect(resultsOf(await entriesOf(on.sessions))).toEqual([]);
    held?.release();
    expect(await on.run(lane, [say("Saved.")])).toMatchObject({ kind: "replied" });
  });

  test("a permission that was taken away meanwhile: absent, and not repeated", async () => {
    await using on = await stage();
    const lane = laneOf("save");
    await on.crash(lane, SCRIPT, "effect:before:write");
    await on.run(lane, [say("No.")], { allowed: () => "Not any more." });
    expect(await fileOf(on)).toBeNull();
    const text = expect.stringMatching(/is as it was before the call.*Not any more\./);
    expect(resultsOf(await entriesOf(on.sessions))).toMatchObject([
      { isError: true, content: [{ text }], details: { holdfast: { verdict: "absent" } } },
    ]);
  });

  test.each([
    ["ran", null],
    ["was found to have happened", "effect:after:write"],
  ])("that an action ended is noted once it has a result, not before: it %s", async (_how, at) => {
    await using on = await stage();
    const lane = laneOf("save");
    const ended = () =>
      readdirSync(join(on.root, "actions"))
        .filter((key) => /^[0-9a-f]{64}$/.test(key))
        .map((key) => readdirSync(join(on.root, "actions", key)).includes("ended"));
    if (at !== null) {
      await on.crash(lane, SCRIPT, at);
      expect(ended()).toEqual([false]);
    }
    await on.run(lane, at === null ? [...SCRIPT, say("Saved.")] : [say("Saved.")]);
    expect(ended()).toEqual([true]);
  });

  test("folders and files of actions are private", async () => {
    await using on = await stage();
    await on.run(laneOf("save"), [act("write", WRITE), say("Saved.")]);
    const { statSync } = await import("node:fs");
    const [key] = readdirSync(join(on.root, "actions"));
    const modes = ["", "lock", "1"].map((name) => statSync(join(on.root, "actions", key ?? "", name)).mode & 0o777);
    expect(modes).toEqual([0o700, 0o600, 0o700]);
  });
});

describe("calls that are not ours to run", () => {
  test("of another program, answering our message: unknown, never run", async () => {
    await using on = await stage();
    const lane = laneOf("save");
    await on.crash(lane, [], "model:before-ask");
    await using session = await on.sessions.open(KEY);
    const content = [{ type: "toolCall", id: "foreign", name: "write", arguments: WRITE }];
    await session.append({ type: "message", message: { role: "assistant", content, stopReason: "toolUse" } });
    await on.run(lane, [say("Not mine.")]);
    expect(dataOf(await entriesOf(on.sessions), "verdict")).toMatchObject([{ verdict: "unknown" }]);
    expect(await fileOf(on)).toBeNull();
  });

  test("without promised durability on another boot: the intent may have been lost", async () => {
    await using on = await stage();
    const lane = laneOf("save");
    const before = { fsync: "never", boot: "before" } as const;
    await on.crash(lane, SCRIPT, "action:before-record", { home: before });
    await on.run(lane, [say("?")]);
    expect(dataOf(await entriesOf(on.sessions), "verdict")).toMatchObject([{ verdict: "unknown" }]);
    expect(await fileOf(on)).toBeNull();
  });

  test("without promised durability on the same boot it is run", async () => {
    await using on = await stage();
    const lane = laneOf("save");
    const home = { fsync: "never" } as const;
    await on.crash(lane, SCRIPT, "action:before-record", { home });
    await on.run(lane, [say("Saved.")], { home });
    expect(await fileOf(on)).toBe(WRITE.content);
  });
});

describe("giving up", () => {
  test("open calls are closed by what is known of them, and none is run", async () => {
    await using on = await stage();
    const lane = laneOf("save");
    const script = [act("write", WRITE, { tool: "write", args: { path: "b.txt", content: "b" } })];
    await on.crash(lane, script, "effect:before:write");
    lane.budget = 0;
    expect(await on.run(lane, [])).toMatchObject({ kind: "stopped", code: "attempts_used" });
    const entries = await entriesOf(on.sessions);
    expect(resultsOf(entries)).toMatchObject([
      { isError: true, details: { holdfast: { verdict: "absent" } } },
      { isError: true, content: [{ text: expect.stringMatching(/^Not run: /) }] },
    ]);
    expect(outline(entries).at(-1)).toBe("failure");
    expect(readdirSync(on.path)).toEqual([]);
  });

  test("the next message closes what an earlier item left open", async () => {
    await using on = await stage();
    await on.crash(laneOf("save"), SCRIPT, "effect:after:write");
    expect(await on.run(laneOf("next", "k2"), [say("Hello.")])).toMatchObject({ kind: "replied" });
    const entries = await entriesOf(on.sessions);
    expect(resultsOf(entries)).toMatchObject([{ isError: false, details: { holdfast: { verdict: "happened" } } }]);
    expect(outline(entries).slice(-5)).toEqual(["turn", "verdict", "toolResult", "user", "answer"]);
  });
});

test("what an earlier item left open is in other hands: the next message waits, unheard", async () => {
  await using on = await stage();
  await on.crash(laneOf("save"), SCRIPT, "effect:after:write");
  const [key] = readdirSync(join(on.root, "actions"));
  using held = tryFileLock(join(on.root, "actions", key ?? "", "lock"));
  expect(held).toBeDefined();
  const lane = laneOf("next", "k2");
  expect(await on.run(lane, [say("?")])).toMatchObject({ kind: "busy" });
  expect(outline(await entriesOf(on.sessions)).filter((word) => word === "user")).toHaveLength(1);
  held?.release();
  expect(await on.run(lane, [say("Hello.")])).toMatchObject({ kind: "replied" });
});

test("the record's folder being gone is no proof of anything", async () => {
  await using on = await stage();
  const lane = laneOf("run");
  await on.crash(lane, [act("exec", { command: "echo ran >> bell" })], "effect:after:exec");
  await rm(join(on.root, "actions"), { recursive: true });
  mkdirSync(join(on.root, "actions"));
  await on.run(lane, [say("?")]);
  expect(dataOf(await entriesOf(on.sessions), "verdict")).toMatchObject([{ verdict: "unknown" }]);
  expect(await rings(on)).toHaveLength(1);
});
