import { describe, expect, test } from "vitest";
import type { Entry } from "../../src/live/path.ts";
import { emptyState, type LiveState } from "../../src/live/state.ts";
import { type Row, rowsOf, unsavedCount } from "../../src/view/rows.ts";
import { Chain } from "../support/entries.ts";
import { itemOf } from "../support/fake-gateway.ts";

const rows = (part: Partial<LiveState>): readonly Row[] => rowsOf({ ...emptyState, loaded: true, ...part });
const kinds = (list: readonly Row[]): readonly string[] => list.map((row) => row.kind);
function mine(list: readonly Row[]) {
  return list.flatMap((row) => (row.kind === "mine" ? [row] : []));
}

describe("one's own message has one row in every stage", () => {
  const item = itemOf("i1", "c1", "hi");
  const entry = new Chain().user("hi", "web:local:agent:main:main:c1");
  const stages: readonly (readonly [string, Partial<LiveState>, string])[] = [
    ["sending", { outgoing: [{ clientKey: "c1", text: "hi", at: 1, refusal: null }] }, "sending"],
    ["accepted", { items: [item] }, "accepted"],
    ["heard, not durable", { items: [item], entries: [entry], unsaved: new Set(["e1"]) }, "accepted"],
    ["heard", { items: [{ ...item, state: "running" }], entries: [entry] }, "saved"],
    ["done", { items: [{ ...item, state: "done" }], entries: [entry] }, "saved"],
  ];
  test.each(stages)("%s", (_name, part, ring) => {
    const found = mine(rows(part));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatchObject({ id: "c1", text: "hi", ring, trouble: null });
  });

  test("also when the sender gave no key", () => {
    const keyless = { ...itemOf("i1", null, "hi"), acceptedAt: 0, state: "running" as const };
    expect(mine(rows({ items: [keyless], entries: [new Chain().user("hi", "web:local:x:i9")] }))).toHaveLength(1);
    const later = { ...keyless, acceptedAt: Date.UTC(2030, 0) };
    expect(mine(rows({ items: [later], entries: [new Chain().user("hi")] }))).toHaveLength(2);
  });

  test("what is not saved is counted", () => {
    expect(unsavedCount(rows({ items: [item], entries: [new Chain().user("other")] }))).toBe(1);
  });
});

describe("trouble", () => {
  const failed = { ...itemOf("i1", "c1", "hi"), state: "failed" as const, failure: "no model" };

  test("a failed item says why, with or without its entry", () => {
    expect(mine(rows({ items: [failed] }))[0]?.trouble).toMatchObject({ kind: "failed", reason: "no model" });
    const entries = [new Chain().user("hi", "w:a:k:c1")];
    expect(mine(rows({ items: [failed], entries }))[0]?.trouble).toMatchObject({ reason: "no model" });
  });

  test("an error answer in the log speaks for the item, once", () => {
    const chain = new Chain();
    const message = { role: "assistant", content: [], stopReason: "error", errorMessage: "bad key" };
    const failure = { type: "message", message, answers: ["e1"], stopped: "model_failed", failure: "auth" };
    const entries = [chain.user("hi", "w:a:k:c1"), chain.entry(failure)];
    const list = rows({ items: [failed], entries });
    expect(mine(list)[0]?.trouble).toBeNull();
    expect(list.at(-1)).toMatchObject({ kind: "failure", code: "auth", text: "bad key", again: "hi" });
    const later = rows({ entries: [...entries, chain.user("and now?")] });
    expect(later.find((row) => row.kind === "failure")).toMatchObject({ again: null });
  });

  test("a refused message keeps what is needed to send it again", () => {
    const outgoing = { clientKey: "c1", text: "hi", at: 1, refusal: "too long" };
    expect(mine(rows({ outgoing: [outgoing] }))[0]?.trouble).toEqual({
      kind: "not-sent",
      reason: "too long",
      outgoing,
    });
  });
});

test("what waits for a yes says what is asked; what was dropped says why", () => {
  const waiting = { ...itemOf("i1", "c1", "run it"), state: "waiting" as const, asks: "Answer /approve 1a2b" };
  const dropped = { ...itemOf("i2", "c2", "late"), state: "dropped" as const, failure: "Too many waited" };
  expect(rows({ items: [waiting, dropped] })).toMatchObject([
    { kind: "notice", what: "message", text: "Answer /approve 1a2b" },
    { kind: "mine", text: "run it", trouble: null },
    { kind: "mine", text: "late", trouble: { kind: "failed", reason: "Too many waited" } },
  ]);
});

describe("calls", () => {
  function turn(...rest: readonly ((chain: Chain, calls: Entry) => Entry)[]): Entry[] {
    const chain = new Chain();
    const calls = chain.calls({ name: "read", arguments: { path: "a" } }, { name: "write", arguments: { path: "b" } });
    return [calls, ...rest.map((make) => make(chain, calls))];
  }
  const callsOf = (part: Partial<LiveState>) => rows(part).flatMap((row) => (row.kind === "call" ? [row.call] : []));

  test("a call that nobody has said yes to is waiting, until it is begun", () => {
    const asked = (chain: Chain, calls: Entry) =>
      chain.entry({
        type: "custom",
        customType: "holdfast:approval",
        data: { event: "asked", entryId: calls.id, ordinal: 1 },
      });
    const begun = (chain: Chain, calls: Entry) =>
      chain.entry({ type: "custom", customType: "holdfast:intent", data: { entryId: calls.id, ordinal: 1 } });
    expect(callsOf({ entries: turn(asked) }).map((call) => call.state)).toEqual(["open", "waiting"]);
    expect(callsOf({ entries: turn(asked, begun) }).map((call) => call.state)).toEqual(["open", "open"]);
  });

  test("without a result a call runs, or is open; never done", () => {
    expect(callsOf({ entries: turn(), running: true }).map((call) => call.state)).toEqual(["in_flight", "in_flight"]);
    expect(callsOf({ entries: turn() }).map((call) => call.state)).toEqual(["open", "open"]);
  });

  test("results belong to their call by entry and ordinal, whatever the order", () => {
    const entries = turn(
      (chain, calls) => chain.intent(calls.id, 1),
      (chain, calls) => chain.result(calls.id, 1, "written"),
      (chain, calls) => chain.result(calls.id, 0, "no such file", { isError: true }),
    );
    const [read, write] = callsOf({ entries });
    expect(read).toMatchObject({ tool: "read", state: "failed", result: "no such file", attempts: 0, tookMs: null });
    expect(write).toMatchObject({ tool: "write", state: "ok", result: "written", attempts: 1, tookMs: 1000 });
  });

  test("other programs' results are found by the provider's id", () => {
    const entries = turn((chain, calls) => ({ ...chain.result(calls.id, 0, "text"), call: undefined }));
    expect(callsOf({ entries })[0]).toMatchObject({ state: "ok", result: "text" });
  });

  test("a recovered result shows verdict and evidence, and no duration", () => {
    const details = { holdfast: { verdict: "happened", evidence: { sha256: "x" }, synthetic: true } };
    const entries = turn(
      (chain, calls) => chain.intent(calls.id, 1),
      (chain, calls) => chain.result(calls.id, 1, "found", { details }),
    );
    const write = callsOf({ entries })[1];
    expect(write).toMatchObject({ verdict: "happened", evidence: { sha256: "x" }, tookMs: null });
  });
});

describe("the rest", () => {
  test("state entries are not shown, notices are", () => {
    const chain = new Chain();
    const entries = [
      chain.entry({ type: "custom", customType: "holdfast:turn", data: {} }),
      chain.entry({ type: "model_change", provider: "p", modelId: "m" }),
      chain.entry({ type: "compaction", summary: "s", firstKeptEntryId: "e1", tokensBefore: 1 }),
      chain.entry({ type: "custom_message", customType: "x", content: "hidden", display: false }),
      chain.entry({ type: "custom_message", customType: "x", content: "shown", display: true }),
      chain.entry({ type: "from-the-future", shape: "unknown" }),
      chain.entry({ type: "message", message: { role: "assistant", content: "not a list" } }),
    ];
    expect(rows({ entries }).map((row) => row.kind === "notice" && row.what)).toEqual(["summarised", "message"]);
  });

  test("while nothing else shows that work goes on, a row does", () => {
    const draft = { answerId: "a", text: "x", thinking: "", calls: [] };
    expect(kinds(rows({ running: true }))).toEqual(["working"]);
    expect(kinds(rows({ running: true, drafts: [draft] }))).toEqual(["draft"]);
    const entries = [new Chain().calls({ name: "read", arguments: {} })];
    expect(kinds(rows({ running: true, entries }))).toEqual(["call"]);
  });

  test("row ids are unique, so that nothing is drawn twice", () => {
    const chain = new Chain();
    const answer = {
      role: "assistant",
      content: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
      stopReason: "length",
    };
    const list = rows({ entries: [chain.user("x"), chain.entry({ type: "message", message: answer })] });
    expect(new Set(list.map((row) => row.id)).size).toBe(list.length);
    expect(list).toHaveLength(4);
  });
});
