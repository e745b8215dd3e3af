/** When the same call counts as a repetition of one whose outcome was found out afterwards, and when as a new act. */
import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { act, say } from "../../src/model/scripted.ts";
import type { Tool } from "../../src/types.ts";
import { entriesOf, laneOf, resultsOf } from "../support/agent.ts";
import { type Stage, stage } from "../support/stage.ts";

/** Appends a line; a probe can count lines, and takes any line for the act it looks for. */
function appending(on: Stage): ReadonlyMap<string, Tool> {
  const tool: Tool = {
    spec: { name: "ring", description: "", parameters: {} },
    effect: "checkable",
    check: () => null,
    async run() {
      await appendFile(join(on.path, "bell"), "rung\n");
      return { ok: true, text: "rung" };
    },
    async probe() {
      const outcome = { ok: true, text: "rung" };
      return (await rings(on)) > 0
        ? { kind: "happened", outcome, evidence: {} }
        : { kind: "absent", evidence: {}, says: "Silence." };
    },
  };
  return new Map([["ring", tool]]);
}

async function rings(on: Stage): Promise<number> {
  const text = await readFile(join(on.path, "bell"), "utf8").catch(() => "");
  return text.split("\n").filter(Boolean).length;
}

describe("after a kill between effect and result", () => {
  test("the second of two identical calls in one answer is still made", async () => {
    await using on = await stage();
    const lane = laneOf("ring twice");
    const tools = appending(on);
    await on.crash(lane, [act("ring", { n: 1 }, { tool: "ring", args: { n: 1 } })], "effect:after:ring", { tools });
    await on.run(lane, [say("Rung twice.")], { tools });
    expect(await rings(on)).toBe(2);
    expect(resultsOf(await entriesOf(on.sessions))).toMatchObject([
      { isError: false, details: { holdfast: { verdict: "happened" } } },
      { isError: false, content: [{ text: "rung" }] },
    ]);
  });

  test("the same call in the next answer is not", async () => {
    await using on = await stage();
    const lane = laneOf("ring");
    const tools = appending(on);
    await on.crash(lane, [act("ring", { n: 1 })], "effect:after:ring", { tools });
    await on.run(lane, [act("ring", { n: 1 }), say("Rung.")], { tools });
    expect(await rings(on)).toBe(1);
  });
});
