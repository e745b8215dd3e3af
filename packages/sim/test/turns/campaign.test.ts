/** Turns on the simulated machine: every promise at a part of all points (all of them under HOLDFAST_LARGE), and faults that are found. */
import type { Tool } from "@holdfast/agent";
import { realWorld } from "@holdfast/base";
import { memoryLanes } from "@holdfast/gateway/internal";
import { describe, expect, test } from "vitest";
import { withoutSync } from "../../src/simulate/mutants.ts";
import { enumerateTurns } from "../../src/turns/enumerate-turns.ts";
import type { Parts, Story } from "../../src/turns/life.ts";
import { STORIES } from "../../src/turns/stories.ts";

const isLarge = process.env.HOLDFAST_LARGE === "1";
const story = (name: string): Story => STORIES.find((one) => one.name === name)!;

test.each(STORIES)("$name: every promise is kept at every point", { timeout: 300_000 }, async (one) => {
  const options = isLarge ? {} : { stride: 40, refusals: false };
  const { points, violations } = await enumerateTurns(one, options);
  expect(violations).toEqual([]);
  expect(points).toBeGreaterThan(isLarge ? 2_000 : 20);
});

/** Every tool changed alike. */
const tools = (parts: Parts, change: (tool: Tool) => Partial<Tool>): Parts => ({
  ...parts,
  tools: new Map([...parts.tools].map(([name, tool]) => [name, { ...tool, ...change(tool) }])),
});

const MUTATIONS: readonly (readonly [string, string, (parts: Parts) => Parts])[] = [
  [
    "a probe that says absent of what happened",
    "one file written",
    (parts) => tools(parts, () => ({ probe: async (_args, evidence) => ({ kind: "absent", evidence, says: "" }) })),
  ],
  [
    "a probe that says happened of what did not",
    "one file written",
    (parts) =>
      tools(parts, () => ({
        probe: async (_args, evidence) => ({ kind: "happened", evidence, outcome: { ok: true, text: "" } }),
      })),
  ],
  [
    "a tool that calls itself harmless",
    "something nobody can tell",
    (parts) => tools(parts, () => ({ effect: "idempotent" })),
  ],
  [
    "a tool that calls itself reading",
    "something nobody can tell",
    (parts) => tools(parts, () => ({ effect: "none" })),
  ],
  ["an act without its name", "a business act", (parts) => tools(parts, () => ({ identity: undefined }))],
  [
    "a record of acts that is never written",
    "a business act",
    (parts) => ({ ...parts, folders: { ...parts.folders, addToRecord: async () => {} } }),
  ],
  [
    "a lane that forgets what it accepted",
    "no tool",
    (parts) => ({
      ...parts,
      store: { ...parts.store, enqueue: (item, nowMs) => memoryLanes(realWorld()).enqueue(item, nowMs) },
    }),
  ],
  [
    "a reply that is sent again whatever was noted",
    "no tool",
    (parts) => ({
      ...parts,
      store: { ...parts.store, claim: async (request) => withoutProgress(await parts.store.claim(request)) },
    }),
  ],
  [
    "a disk that is never synced",
    "something nobody can tell",
    (parts) => ({ ...parts, disk: withoutSync(parts.disk) }),
  ],
];

function withoutProgress<Item extends { readonly progress: number } | undefined>(item: Item): Item {
  return item === undefined ? item : { ...item, progress: 0 };
}

describe("a rule that is broken is found", () => {
  test.each(MUTATIONS)("%s", { timeout: 60_000 }, async (_what, name, mutate) => {
    const { violations } = await enumerateTurns({ ...story(name), mutate }, { refusals: false, first: true });
    expect(violations.length).toBeGreaterThan(0);
  });
});
