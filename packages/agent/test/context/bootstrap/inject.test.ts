/** What turns are given of a workspace, from the first message on, with the real files, log and turns. */
import { appendFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Entry } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import type { BootstrapPorts } from "../../../src/context/bootstrap/inject.ts";
import { keptInMemory } from "../../../src/context/bootstrap/kept.ts";
import { INJECTED } from "../../../src/context/bootstrap/marker.ts";
import { type BootstrapSettings, defaultBootstrap } from "../../../src/context/bootstrap/settings.ts";
import { act, type ScriptedStep, say, scriptedModel } from "../../../src/model/scripted.ts";
import type { Message, ModelRequest } from "../../../src/types.ts";
import { entriesOf, KEY, laneOf } from "../../support/agent.ts";
import { type Stage, stage } from "../../support/stage.ts";

interface Told {
  readonly stage: Stage;
  /** What the model was asked, oldest first. */
  readonly requests: ModelRequest[];
  file(name: string, text: string): Promise<void>;
  /** One message and its answer; `steps`: what the model does before it answers. */
  say(
    text: string,
    more?: { readonly steps?: readonly ScriptedStep[]; readonly message?: Partial<Message>; readonly key?: string },
  ): Promise<void>;
  /** What the sender was told besides answers, by key. */
  readonly told: Map<string, string>;
  /** Forgets what a process keeps in memory. */
  restart(): void;
  markers(): Promise<readonly Entry[]>;
}

async function telling(settings: Partial<BootstrapSettings> = {}): Promise<Told & AsyncDisposable> {
  const place = await stage();
  const requests: ModelRequest[] = [];
  const told = new Map<string, string>();
  const ports = (): BootstrapPorts => ({
    settings: { ...defaultBootstrap(), timezone: "Asia/Shanghai", ...settings },
    kept: keptInMemory(),
  });
  let bootstrap = ports();
  let count = 0;
  return {
    stage: place,
    requests,
    told,
    async file(name, text) {
      await mkdir(dirname(join(place.path, name)), { recursive: true });
      await writeFile(join(place.path, name), text);
    },
    async say(text, { steps = [], message = {}, key = KEY } = {}) {
      count += 1;
      const lane = { ...laneOf(text, `web:local:me:${count}`), told };
      lane.item = { ...lane.item, sessionKey: key, message: { ...lane.item.message, ...message } };
      const script = [...steps, say("ok")].map(
        (step): ScriptedStep =>
          (request) => {
            requests.push(request);
            return typeof step === "function" ? step(request) : step;
          },
      );
      const outcome = await place.run(lane, script, { bootstrap });
      if (outcome.kind !== "replied") throw new Error(JSON.stringify(outcome));
    },
    restart() {
      bootstrap = ports();
    },
    markers: async () =>
      (await entriesOf(place.sessions)).filter((entry) => (entry as { customType?: string }).customType === INJECTED),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

const write = (path: string, content: string): ScriptedStep => act("write", { path, content });
const has = (request: ModelRequest | undefined, text: string): boolean => request?.system.includes(text) === true;

describe("always", () => {
  test("every request has the files; a marker says so in the write of the turn's first answer", async () => {
    await using told = await telling();
    await told.file("AGENTS.md", "Rule one.");
    await told.file("skills/weather/SKILL.md", "---\nname: weather\ndescription: Rain.\n---\nLong body.");
    await told.say("a", { steps: [act("read", { path: "AGENTS.md" })] });
    await told.say("b");
    expect(told.requests.map((request) => has(request, "# AGENTS.md\nRule one."))).toEqual([true, true, true]);
    expect(told.requests.map((request) => has(request, "weather (skills/weather/SKILL.md): Rain."))).toEqual([
      true,
      true,
      true,
    ]);
    expect(has(told.requests[0], "Long body.")).toBe(false);
    const entries = await entriesOf(told.stage.sessions);
    const markers = await told.markers();
    expect(markers).toHaveLength(2);
    expect(entries[entries.findIndex(({ id }) => id === markers[0]!.id) + 1]).toMatchObject({
      message: { role: "assistant" },
    });
    expect(markers[0]).toMatchObject({ data: { files: { "AGENTS.md": expect.stringMatching(/^[0-9a-f]{16}$/) } } });
  });

  test("a change of a file is seen by the next turn, not by the same one", async () => {
    await using told = await telling();
    await told.file("AGENTS.md", "Rule one.");
    await told.say("a", { steps: [write("AGENTS.md", "Rule two.")] });
    await told.say("b");
    await told.file("skills/new/SKILL.md", "---\ndescription: New.\n---\n");
    await told.say("c");
    expect(told.requests.map((request) => has(request, "Rule two."))).toEqual([false, false, true, true]);
    expect(told.requests.map((request) => has(request, "New."))).toEqual([false, false, false, true]);
  });

  test("memory that the conversation wrote itself changes nothing, until somebody else did or a compaction came", async () => {
    await using told = await telling();
    const note = `memory/2026-06-22.md`;
    told.stage.world.ms = Date.parse("2026-06-22T03:00:00Z");
    await told.file("MEMORY.md", "Old fact.");
    await told.say("a", { steps: [write(note, "noted")] });
    await told.say("b", { steps: [act("append", { path: note, content: ", more" })] });
    await told.say("c");
    expect(new Set(told.requests.map(({ system }) => system)).size).toBe(1);
    await appendFile(join(told.stage.path, note), ", by hand");
    await told.say("d");
    expect(has(told.requests.at(-1), "noted, more, by hand")).toBe(true);
    await told.say("e", { steps: [write("MEMORY.md", "New fact.")] });
    await told.say("f");
    expect(has(told.requests.at(-1), "Old fact.")).toBe(true);
    await using session = await told.stage.sessions.open(KEY);
    const [first] = session.path();
    await session.append({ type: "compaction", summary: "s", firstKeptEntryId: first!.id, tokensBefore: 1 });
    await told.say("g");
    expect(has(told.requests.at(-1), "New fact.")).toBe(true);
  });

  test("a process that does not know the old bytes any more gives the new ones", async () => {
    await using told = await telling();
    await told.file("MEMORY.md", "Old fact.");
    await told.say("a", { steps: [write("MEMORY.md", "New fact.")] });
    told.restart();
    await told.say("b");
    expect(has(told.requests.at(-1), "New fact.")).toBe(true);
  });

  test("the days are the user's: at midnight there, the notes of another day are shown", async () => {
    await using told = await telling();
    await told.file("memory/2026-06-21.md", "on the 21st");
    await told.file("memory/2026-06-22.md", "on the 22nd");
    await told.file("memory/2026-06-23.md", "on the 23rd");
    told.stage.world.ms = Date.parse("2026-06-22T15:59:00Z");
    await told.say("a");
    told.stage.world.ms = Date.parse("2026-06-22T16:01:00Z");
    await told.say("b");
    const days = told.requests.map(({ system }) => system.match(/on the \d+\w\w/g));
    expect(days).toEqual([
      ["on the 21st", "on the 22nd"],
      ["on the 22nd", "on the 23rd"],
    ]);
  });

  test("without any file there is no marker", async () => {
    await using told = await telling();
    await told.say("a");
    expect(await told.markers()).toEqual([]);
  });
});

describe("continuation-skip", () => {
  const skipping = { injection: "continuation-skip" } as const;

  test("a branch is told once; all questions of the turn that was told have it", async () => {
    await using told = await telling(skipping);
    await told.file("AGENTS.md", "Rule one.");
    await told.say("a", { steps: [act("read", { path: "AGENTS.md" })] });
    await told.say("b");
    told.restart();
    await told.say("c");
    expect(told.requests.map((request) => has(request, "Rule one."))).toEqual([true, true, false, false]);
    expect(await told.markers()).toHaveLength(1);
  });

  test("void after a change of the files, after a compaction, and on a branch that was not told", async () => {
    await using told = await telling(skipping);
    await told.file("AGENTS.md", "Rule one.");
    await told.say("a");
    await told.file("AGENTS.md", "Rule two.");
    await told.say("b");
    await told.say("c");
    await using session = await told.stage.sessions.open(KEY);
    await session.append({ type: "compaction", summary: "s", firstKeptEntryId: session.leaf()!, tokensBefore: 1 });
    await told.say("d");
    await told.say("e");
    const root = (await session.since(null)).find(({ type }) => type === "thinking_level_change");
    await session.branch(root!.id);
    await told.say("f");
    expect(told.requests.map((request) => has(request, "# AGENTS.md"))).toEqual([true, true, false, true, false, true]);
  });

  test("void in the middle of a turn, when a compaction comes there", async () => {
    await using told = await telling(skipping);
    await told.file("AGENTS.md", "Rule one.");
    await told.say("a");
    const compacts: ScriptedStep = async () => {
      await using session = await told.stage.sessions.open(KEY);
      const firstKeptEntryId = session.leaf()!;
      await session.append({ type: "compaction", summary: "s", firstKeptEntryId, tokensBefore: 1 });
      return act("read", { path: "AGENTS.md" });
    };
    await told.say("b", { steps: [compacts] });
    await told.say("c");
    expect(told.requests.map((request) => has(request, "# AGENTS.md"))).toEqual([true, false, true, false]);
    expect(await told.markers()).toHaveLength(2);
  });

  test("void after a reset: a new conversation is told again", async () => {
    await using told = await telling(skipping);
    await told.file("AGENTS.md", "Rule one.");
    await told.say("a");
    await told.stage.sessions.keep.reset(KEY, "new");
    await told.say("b");
    expect(told.requests.map((request) => has(request, "Rule one."))).toEqual([true, true]);
  });

  test("a turn that was killed goes on with the files, though they are again as the turn before it had them", async () => {
    await using told = await telling(skipping);
    await told.file("AGENTS.md", "Rule one.");
    await told.say("a");
    await told.file("AGENTS.md", "Rule two.");
    const lane = laneOf("b", "web:local:me:killed");
    const bootstrap = { settings: { ...defaultBootstrap(), ...skipping } };
    await told.stage.crash(lane, [write("todo.md", "x")], "effect:before:write", { bootstrap });
    await told.file("AGENTS.md", "Rule one.");
    const seen: ModelRequest[] = [];
    const answers: ScriptedStep = (request) => {
      seen.push(request);
      return say("ok");
    };
    await told.stage.run(lane, [answers], { bootstrap });
    expect(seen.map((request) => has(request, "Rule one."))).toEqual([true]);
  });

  test("a turn that failed before it was answered has told nothing", async () => {
    await using told = await telling(skipping);
    await told.file("AGENTS.md", "Rule one.");
    const lane = laneOf("a", "web:local:me:x");
    await told.stage.crash(lane, [say("never")], "model:after-answer", {
      bootstrap: { settings: { ...defaultBootstrap(), ...skipping } },
    });
    await told.say("b");
    expect(has(told.requests[0], "Rule one.")).toBe(true);
  });
});

test("never: no file, no skill, no marker, in whatever run", async () => {
  await using told = await telling({ injection: "never" });
  await told.file("AGENTS.md", "Rule one.");
  await told.file("HEARTBEAT.md", "Look.");
  await told.file("skills/a/SKILL.md", "x");
  await told.say("a");
  await told.say("b", { message: { weight: "heartbeat" } });
  for (const { system } of told.requests) expect(system).not.toMatch(/Rule one|Look\.|skills\//);
  expect(await told.markers()).toEqual([]);
});

test("a heartbeat has HEARTBEAT.md only, a light run nothing; neither says that the branch was told", async () => {
  await using told = await telling({ injection: "continuation-skip" });
  await told.file("AGENTS.md", "Rule one.");
  await told.file("HEARTBEAT.md", "Look.");
  await told.say("a", { message: { weight: "heartbeat" } });
  await told.say("b", { message: { weight: "lightweight" } });
  await told.say("c");
  await told.say("d", { message: { weight: "heartbeat" } });
  expect(told.requests.map((request) => [has(request, "Rule one."), has(request, "Look.")])).toEqual([
    [false, true],
    [false, false],
    [true, true],
    [false, true],
  ]);
  expect(await told.markers()).toHaveLength(1);
});

test("a group is not told what the owner's conversation is", async () => {
  await using told = await telling();
  await told.file("AGENTS.md", "Rule one.");
  await told.file("MEMORY.md", "Private.");
  await told.say("a", { key: "agent:main:telegram:group:-1" });
  expect([has(told.requests[0], "Rule one."), has(told.requests[0], "Private.")]).toEqual([true, false]);
});

test("BOOTSTRAP.md until the set-up is done", async () => {
  await using told = await telling();
  await told.file("BOOTSTRAP.md", "Ask for a name.");
  await told.say("a", { steps: [write("USER.md", "Ana")] });
  await told.say("b");
  expect(told.requests.map((request) => has(request, "Ask for a name."))).toEqual([true, true, false]);
});

test("files that cannot be read never stop a turn", async () => {
  await using told = await telling();
  await symlink("/etc/passwd", join(told.stage.path, "SOUL.md"));
  await mkdir(join(told.stage.path, "USER.md"));
  await told.say("a");
  expect(told.requests[0]?.system).toContain("# SOUL.md\n(not read: a link that leads out of the workspace)");
  await rm(told.stage.path, { recursive: true });
  await told.say("b");
  expect(told.requests[1]?.system).not.toContain("SOUL.md");
});

test("the time stands above each message, as it was when it was heard", async () => {
  await using told = await telling();
  await told.say("what time is it?");
  await told.say("and now?");
  const texts = told.requests[1]!.messages.map(({ content }) => (content as readonly { text: string }[])[0]?.text);
  expect(texts[0]).toMatch(/^\[Mon 2026-06-22 21:01 \+08:00\]$/);
  expect(told.requests[1]!.messages[0]).toEqual(told.requests[0]!.messages[0]);
  const [heard] = await entriesOf(told.stage.sessions).then((all) => all.filter(({ type }) => type === "message"));
  expect(heard).toMatchObject({
    message: { content: [{ type: "text", text: "what time is it?" }], envelope: texts[0] },
  });
});

describe("files that do not fit", () => {
  const small = { limits: { maxChars: 1_000, totalMaxChars: 60_000 } };
  const long = "x".repeat(1_500);

  test("the owner is told once, in the conversation and where they are, and again when another file is concerned", async () => {
    await using told = await telling(small);
    await told.file("AGENTS.md", long);
    await told.say("a");
    await told.file("AGENTS.md", `${long}, longer`);
    await told.say("b");
    told.restart();
    await told.say("c");
    expect([...told.told.values()]).toEqual([
      expect.stringMatching(
        /^These workspace files.*\n- AGENTS\.md: \d+ of 1500 characters left out\n.*bootstrapMaxChars \(now 1000\)/,
      ),
    ]);
    await told.file("SOUL.md", long);
    await told.say("继续");
    expect([...told.told.values()][1]).toMatch(/^工作区.*\n- AGENTS\.md.*\n- SOUL\.md/);
    const notices = (await entriesOf(told.stage.sessions)).filter(({ type }) => type === "custom_message");
    expect(notices).toMatchObject([{ customType: "holdfast:notice", display: true }, { display: true }]);
  });

  test("nor what a small window leaves no room for", async () => {
    await using told = await telling();
    await told.file("AGENTS.md", "Rule.\n".repeat(3_000));
    const lane = { ...laneOf("a", "web:local:me:small"), told: told.told };
    const model = { ...scriptedModel([say("ok")]), contextWindow: async () => 4_096 };
    expect(await told.stage.run(lane, [], { model })).toMatchObject({ kind: "replied" });
    expect([...told.told.values()]).toEqual([expect.stringMatching(/The model's window is too small/)]);
    expect(model.requests[0]!.system.length).toBeLessThan(4_096 * 3);
  });

  test("nobody else is told", async () => {
    await using told = await telling(small);
    await told.file("AGENTS.md", long);
    await told.say("a", { message: { from: { id: "x", name: "X", owner: false } } });
    expect(told.told.size).toBe(0);
  });
});
