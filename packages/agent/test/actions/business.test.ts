/** Business acts: one ticket for one meeting, whichever session, turn or life asks for it; counted by the service. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { diskFolders } from "../../src/actions/folder.ts";
import { addToRecord, knownOf } from "../../src/actions/record.ts";
import { act, say } from "../../src/model/scripted.ts";
import type { Tool } from "../../src/types.ts";
import { dataOf, entriesOf, laneOf, resultsOf } from "../support/agent.ts";
import { stage } from "../support/stage.ts";

interface Desk {
  readonly tickets: string[];
  tool(more?: Partial<Tool>): ReadonlyMap<string, Tool>;
}

/** A ticket desk: create, and ask by reference. */
function desk(): Desk {
  const tickets: string[] = [];
  return {
    tickets,
    tool: (more = {}) => {
      const ticket: Tool = {
        spec: { name: "ticket", description: "Create a ticket", parameters: { type: "object" } },
        effect: "checkable",
        check: (args) => (typeof args.meeting === "string" ? null : "meeting: missing"),
        identity: (args) => `${args.meeting}#${args.item}`,
        async probe(args, evidence) {
          const there = tickets.includes(`${args.meeting}#${args.item}`);
          const outcome = { ok: true, text: "There is such a ticket." };
          return there
            ? { kind: "happened", outcome, evidence }
            : { kind: "absent", evidence, says: "No such ticket." };
        },
        async run(args) {
          tickets.push(`${args.meeting}#${args.item}`);
          return { ok: true, text: `Ticket ${tickets.length} created.` };
        },
        ...more,
      };
      return new Map([["ticket", ticket]]);
    },
  };
}

async function onStage() {
  const on = await stage();
  onTestFinished(() => on[Symbol.asyncDispose]());
  return on;
}
const ARGS = { meeting: "2026-06-21", item: 2 };

test("the same act in another message is not done again; its evidence is the result", async () => {
  const [on, { tickets, tool }] = [await onStage(), desk()];
  await on.run(laneOf("one", "k1"), [act("ticket", ARGS), say("1")], { tools: tool() });
  await on.run(laneOf("two", "k2"), [act("ticket", { item: 2, meeting: "2026-06-21", colour: "red" }), say("2")], {
    tools: tool(),
  });
  await on.run(laneOf("three", "k3"), [act("ticket", { ...ARGS, item: 3 }), say("3")], { tools: tool() });
  expect(tickets).toEqual(["2026-06-21#2", "2026-06-21#3"]);
  const [, second] = resultsOf(await entriesOf(on.sessions));
  expect(second).toMatchObject({
    isError: false,
    content: [{ text: expect.stringMatching(/Done before.*\nTicket 1 created/s) }],
  });
  expect(second?.details).toMatchObject({ holdfast: { verdict: "happened" } });
});

test.each(["action:after-record", "effect:before:ticket", "effect:after:ticket", "action:before-record"])(
  "killed at %s, and asked again in another message first: one ticket",
  async (point) => {
    const [on, { tickets, tool }] = [await onStage(), desk()];
    await on.crash(laneOf("one", "k1"), [act("ticket", ARGS), say("never")], point, { tools: tool() });
    await on.run(laneOf("two", "k2"), [act("ticket", ARGS), say("2")], { tools: tool() });
    await on.run(laneOf("one", "k1"), [act("ticket", ARGS), say("1")], { tools: tool() });
    expect(tickets).toEqual(["2026-06-21#2"]);
  },
);

test.each([
  ["done", 1, "There is such a ticket."],
  ["not done", 1, "Ticket 1 created."],
])("an answer that was lost, and the act was %s: asked for again, it is looked up first", async (how, count, text) => {
  const [on, { tickets, tool }] = [await onStage(), desk()];
  const kind = { lost: true };
  const tools = tool({
    async run(args) {
      if (!kind.lost || how === "done") tickets.push(`${args.meeting}#${args.item}`);
      if (kind.lost) throw new Error("ETIMEDOUT");
      return { ok: true, text: `Ticket ${tickets.length} created.` };
    },
  });
  const again = () => {
    kind.lost = false;
    return act("ticket", ARGS);
  };
  await on.run(laneOf("one", "k1"), [act("ticket", ARGS), again, say("one ticket")], { tools });
  expect(tickets).toHaveLength(count);
  const [lost, last] = resultsOf(await entriesOf(on.sessions));
  expect(lost).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("ETIMEDOUT") }] });
  expect(JSON.stringify(lost)).toContain("it is looked up before it is done");
  expect(last).toMatchObject({ isError: false, content: [{ text: expect.stringContaining(text) }] });
});

test("nobody can tell: the act stays undone, and the next one who asks for it is told so", async () => {
  const [on, { tickets, tool }] = [await onStage(), desk()];
  const tools = tool({ effect: "opaque", probe: undefined });
  await on.crash(laneOf("one", "k1"), [act("ticket", ARGS)], "effect:after:ticket", { tools });
  await on.run(laneOf("one", "k1"), [say("I do not know.")], { tools });
  await on.run(laneOf("two", "k2"), [act("ticket", ARGS), say("Still not.")], { tools });
  expect(tickets).toHaveLength(1);
  const entries = await entriesOf(on.sessions);
  expect(resultsOf(entries).map((result) => result.isError)).toEqual([true, true]);
  expect(dataOf(entries, "verdict").map(({ verdict }) => verdict)).toEqual(["unknown", "unknown"]);
});

test("the outcome is on record though the result is not: it becomes the result, also of what nobody could probe", async () => {
  const [on, { tickets, tool }] = [await onStage(), desk()];
  const tools = tool({ effect: "opaque", probe: undefined });
  const lane = laneOf("one", "k1");
  on.world.crashAt = null;
  const at = on.world.at;
  let effects = 0;
  on.world.at = (point) => {
    if (point === "effect:after:ticket") effects += 1;
    if (effects > 0 && point === "action:before-record") throw new Error("killed");
    at.call(on.world, point);
  };
  await on.run(lane, [act("ticket", ARGS)], { tools }).catch(() => undefined);
  on.world.at = at;
  await on.run(lane, [say("It is there.")], { tools });
  expect(tickets).toHaveLength(1);
  expect(resultsOf(await entriesOf(on.sessions))).toMatchObject([
    { isError: false, content: [{ text: "Ticket 1 created." }] },
  ]);
});

test("an act that failed may be tried again", async () => {
  const [on, { tickets, tool }] = [await onStage(), desk()];
  const closed = tool({ run: async () => ({ ok: false, text: "The desk is closed." }) });
  await on.run(laneOf("one", "k1"), [act("ticket", ARGS), say("Closed.")], { tools: closed });
  await on.run(laneOf("two", "k2"), [act("ticket", ARGS), say("Done.")], { tools: tool() });
  expect(tickets).toHaveLength(1);
});

test("a line that a crash cut off is as if it had not been written, and the next one stands by itself", async () => {
  const on = await onStage();
  const actions = join(on.root, "actions");
  const folders = diskFolders(actions);
  const place = { session: "s", entryId: "e", ordinal: 0, atMs: 1 };
  const { mkdir, writeFile } = await import("node:fs/promises");
  await mkdir(join(actions, "k"), { recursive: true });
  await writeFile(join(actions, "k", "record.jsonl"), '{"event":"intent","attempt":1,"evid');
  expect(await knownOf(folders, "k")).toEqual({ kind: "nothing" });
  await addToRecord(folders, "k", { event: "intent", attempt: 1, evidence: {}, ...place });
  expect(await knownOf(folders, "k")).toMatchObject({ kind: "open", intent: { entryId: "e" } });
  expect((await readFile(join(actions, "k", "record.jsonl"), "utf8")).split("\n")).toHaveLength(3);
});
