import { describe, expect, test } from "vitest";
import type { Intent } from "../src/entries.ts";
import { settle, stricter } from "../src/settle.ts";
import type { Effect, Probe, Tool } from "../src/types.ts";
import { temporaryWorkspace } from "./support/workspace.ts";

const INTENT: Intent = {
  home: "home-1",
  entryId: "a1",
  ordinal: 0,
  tool: "ring",
  effect: "checkable",
  key: "k",
  resultId: "r1",
  attempt: 1,
  evidence: { before: 1 },
};
const HAPPENED: Probe = { kind: "happened", outcome: { ok: true, text: "rung" }, evidence: { seen: 1 } };

function ringer(probes: readonly (Probe | Error)[], effect: Effect = "checkable"): Tool {
  const left = [...probes];
  return {
    spec: { name: "ring", description: "", parameters: {} },
    effect,
    check: () => null,
    run: () => Promise.reject(new Error("must not run")),
    async probe() {
      const next = left.shift();
      if (next === undefined || next instanceof Error) throw next ?? new Error("asked too often");
      return next;
    },
  };
}

async function found(tool: Tool | undefined, more: Partial<Intent> = {}, signal?: AbortSignal) {
  await using space = await temporaryWorkspace(signal === undefined ? {} : { signal });
  return await settle({ ...INTENT, ...more }, { homeId: "home-1", tool, args: {}, context: space.context });
}

describe("what is found", () => {
  const says = { evidence: { seen: 2 }, says: "Seen." };
  const cases: readonly (readonly [string, Tool | undefined, Partial<Intent>, object])[] = [
    [
      "happened",
      ringer([HAPPENED]),
      {},
      { verdict: "happened", repeat: false, evidence: { seen: 1 }, outcome: { ok: true } },
    ],
    ["absent", ringer([{ kind: "absent", ...says }]), {}, { verdict: "absent", repeat: true, outcome: { ok: false } }],
    [
      "conflict",
      ringer([{ kind: "conflict", ...says }]),
      {},
      { verdict: "conflict", repeat: false, outcome: { ok: false } },
    ],
    [
      "unknown",
      ringer([{ kind: "unknown", ...says }]),
      {},
      { verdict: "unknown", repeat: false, evidence: { seen: 2 } },
    ],
    [
      "a probe that fails",
      ringer([new Error("EIO")]),
      {},
      { verdict: "unknown", repeat: false, evidence: { probe: "EIO" } },
    ],
    ["no probe", { ...ringer([]), probe: undefined } as unknown as Tool, {}, { verdict: "unknown", repeat: false }],
    ["opaque now", ringer([HAPPENED], "opaque"), {}, { verdict: "unknown", repeat: false }],
    ["opaque then", ringer([HAPPENED]), { effect: "opaque" }, { verdict: "unknown", repeat: false }],
    ["idempotent", ringer([], "idempotent"), { effect: "idempotent" }, { verdict: "unknown", repeat: true }],
    ["another home", ringer([HAPPENED]), { home: "home-2" }, { verdict: "unknown", repeat: false }],
    ["the tool is gone", undefined, {}, { verdict: "unknown", repeat: false }],
  ];
  test.each(cases)("%s", async (_name, tool, intent, finding) => {
    expect(await found(tool, intent)).toMatchObject({ kind: "found", finding });
  });

  test("a finding that is no proof says that the action may have been done", async () => {
    const settled = await found(ringer([{ kind: "unknown", ...says }]));
    if (settled.kind !== "found") throw new Error(settled.kind);
    expect(settled.finding.outcome.text).toBe(
      "[Recovered] The work was interrupted and the history lacks this result, which does not say that the action failed. Seen. It was not repeated.",
    );
  });
});

describe("in flight", () => {
  const running: Probe = { kind: "in_flight", wait: async () => {} };

  test("it waits, and asks again", async () => {
    expect(await found(ringer([running, HAPPENED]))).toMatchObject({ finding: { verdict: "happened" } });
  });

  test("still in flight: nothing is said", async () => {
    expect(await found(ringer([running, running]))).toMatchObject({ kind: "in_flight" });
  });

  test("an abort ends the waiting, not the work", async () => {
    const stop = new AbortController();
    stop.abort(new Error("stop"));
    const waits: Probe = { kind: "in_flight", wait: async (signal) => signal.throwIfAborted() };
    await expect(found(ringer([waits]), {}, stop.signal)).rejects.toThrow("stop");
  });
});

test("the stricter declaration counts", () => {
  const effects: readonly Effect[] = ["none", "idempotent", "checkable", "opaque"];
  for (const [low, a] of effects.entries()) {
    for (const [high, b] of effects.entries()) expect(stricter(a, b)).toBe(effects[Math.max(low, high)]);
  }
});
