import type { WireEvent, WireSnapshot } from "@holdfast/gateway/wire";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { apply, emptyState, type LiveEvent, type LiveState } from "../../src/live/state.ts";
import { Chain } from "../support/entries.ts";
import { itemOf } from "../support/fake-gateway.ts";

const base: WireSnapshot = {
  key: "k",
  sessionId: "s",
  leaf: null,
  entries: [],
  more: null,
  items: [],
  running: false,
  cursor: "e1:0",
};

function after(...events: readonly LiveEvent[]): LiveState {
  return events.reduce(apply, emptyState);
}
const snapshot = (part: Partial<WireSnapshot> = {}): LiveEvent => ({
  type: "snapshot",
  snapshot: { ...base, ...part },
  at: 5,
});
const wire = (id: string, event: WireEvent): LiveEvent => ({ type: "wire", id, event });
const text = (answerId: string, words: string): WireEvent => ({
  type: "delta",
  answerId,
  delta: { kind: "text", text: words },
  durable: false,
});

test("another epoch than before is a restart, noted where it was seen; the first snapshot is none", () => {
  const entries = [new Chain().user("one")];
  const first = after(snapshot({ entries }));
  expect(first.restarts).toEqual([]);
  expect(apply(first, snapshot({ entries, cursor: "e1:9" })).restarts).toEqual([]);
  const second = apply(first, snapshot({ entries, cursor: "e2:0" }));
  expect(second.restarts).toEqual([{ after: entries[0]?.id, at: 5 }]);
  expect(apply(second, snapshot({ entries, cursor: "e3:0" })).restarts).toHaveLength(1);
});

describe("nothing twice", () => {
  test("an event at or before the cursor changes nothing", () => {
    const state = after(snapshot({ cursor: "e1:5" }));
    expect(apply(state, wire("e1:5", text("a", "x")))).toBe(state);
    expect(apply(state, wire("e1:6", text("a", "x"))).drafts[0]?.text).toBe("x");
  });

  test("sequences are numbers, not texts", () => {
    const state = after(snapshot({ cursor: "e1:9" }));
    expect(apply(state, wire("e1:10", text("a", "x"))).drafts).toHaveLength(1);
  });

  test("a stream that repeats any part of itself gives the same state", () => {
    const chain = new Chain();
    const events: WireEvent[] = [
      { type: "item", item: itemOf("i1", "c1", "hi") },
      { type: "turn", state: "began", itemId: "i1", outcome: null },
      { type: "entries", entries: [chain.user("hi", "w:a:c:c1")], durable: true, leaf: "e1" },
      text("e2", "Hel"),
      text("e2", "lo"),
      { type: "withdrawn", answerId: "e2" },
      text("e2b", "Hello again"),
      { type: "entries", entries: [chain.answer("Hello")], durable: true, leaf: "e2" },
      { type: "turn", state: "ended", itemId: "i1", outcome: "replied" },
      { type: "item", item: { ...itemOf("i1", "c1", "hi"), state: "done" } },
    ];
    const once = events.map((event, index) => wire(`e1:${index + 1}`, event));
    fc.assert(
      fc.property(fc.nat(once.length), fc.nat(once.length), (one, other) => {
        const [backTo, end] = [Math.min(one, other), Math.max(one, other)];
        const seen = once.slice(0, end);
        expect(after(snapshot(), ...seen, ...seen.slice(backTo))).toEqual(after(snapshot(), ...seen));
      }),
    );
  });
});

describe("no gaps", () => {
  test("another epoch, a snapshot event and an unknown ancestor ask for a snapshot", () => {
    const stray = { ...new Chain("nobody", 7).user("?") };
    const causes: LiveEvent[] = [
      wire("e2:1", text("a", "x")),
      wire("e1:1", { type: "snapshot" }),
      wire("e1:1", { type: "entries", entries: [stray], durable: true, leaf: stray.id }),
    ];
    for (const cause of causes) {
      const state = after(snapshot(), cause);
      expect(state.stale).toBe(true);
      expect(state.entries).toEqual([]);
      expect(apply(state, wire("e1:2", text("a", "y")))).toBe(state);
      expect(apply(state, snapshot({ cursor: "e2:4" }))).toMatchObject({ stale: false, cursor: "e2:4" });
    }
  });

  test("an older page goes in front, once", () => {
    const chain = new Chain();
    const [first, second, third] = [chain.user("1"), chain.user("2"), chain.user("3")];
    const state = after(snapshot({ entries: [third], more: "e3" }));
    const older: LiveEvent = {
      type: "older",
      before: "e3",
      snapshot: { ...base, entries: [first, second], more: null },
    };
    const full = apply(state, older);
    expect(full.entries.map((entry) => entry.id)).toEqual(["e1", "e2", "e3"]);
    expect(full.more).toBeNull();
    expect(apply(full, older)).toBe(full);
  });
});

describe("provisional text", () => {
  test("grows, is withdrawn, and does not come back", () => {
    const state = after(snapshot(), wire("e1:1", text("a", "one ")), wire("e1:2", text("a", "two")));
    expect(state.drafts).toEqual([{ answerId: "a", text: "one two", thinking: "", calls: [] }]);
    expect(apply(state, wire("e1:3", { type: "withdrawn", answerId: "a" })).drafts).toEqual([]);
  });

  test("gives way to the saved answer of the same id, to the end of the turn, and to a snapshot", () => {
    const saved = { ...new Chain().answer("one two"), id: "a" };
    const streaming = after(snapshot(), wire("e1:1", text("a", "one")));
    const ends: LiveEvent[] = [
      wire("e1:2", { type: "entries", entries: [saved], durable: true, leaf: "a" }),
      wire("e1:2", { type: "turn", state: "ended", itemId: "i", outcome: null }),
      snapshot({ cursor: "e1:9" }),
    ];
    for (const end of ends) expect(apply(streaming, end).drafts).toEqual([]);
  });

  test("thinking and calls are kept apart from text", () => {
    const state = after(
      snapshot(),
      wire("e1:1", { type: "delta", answerId: "a", delta: { kind: "thinking", text: "hm" }, durable: false }),
      wire("e1:2", { type: "delta", answerId: "a", delta: { kind: "call", name: "write" }, durable: false }),
    );
    expect(state.drafts[0]).toMatchObject({ text: "", thinking: "hm", calls: ["write"] });
  });
});

describe("durability", () => {
  test("an entry shown early is unsaved until its durable copy", () => {
    const entry = new Chain().user("hi");
    const early = after(snapshot(), wire("e1:1", { type: "entries", entries: [entry], durable: false, leaf: "e1" }));
    expect(early.unsaved.has("e1")).toBe(true);
    const late = apply(early, wire("e1:2", { type: "entries", entries: [entry], durable: true, leaf: "e1" }));
    expect(late.unsaved.size).toBe(0);
    expect(late.entries).toHaveLength(1);
  });
});

describe("one's own messages", () => {
  const out = { clientKey: "c1", text: "hi", at: 1, refusal: null };
  const queued: LiveEvent = { type: "queued", outgoing: out };
  const item = itemOf("i1", "c1", "hi");

  test("leave the outbox when the gateway has them, however one learns it", () => {
    const ways: LiveEvent[] = [
      { type: "accepted", clientKey: "c1", item },
      wire("e1:1", { type: "item", item }),
      snapshot({ items: [item] }),
    ];
    for (const way of ways) {
      const state = after(snapshot(), queued, way);
      expect(state.outgoing).toEqual([]);
      expect(state.items).toEqual([item]);
    }
  });

  test("survive a snapshot that does not know them", () => {
    expect(after(queued, snapshot()).outgoing).toEqual([out]);
  });

  test("a late acceptance does not undo what the stream has said since", () => {
    const done = { ...item, state: "done" as const };
    const state = after(snapshot(), queued, wire("e1:1", { type: "item", item: done }));
    expect(apply(state, { type: "accepted", clientKey: "c1", item }).items).toEqual([done]);
  });

  test("a refusal is kept with its reason, sending again takes it back, discarding removes it", () => {
    const refused = after(snapshot(), queued, { type: "refused", clientKey: "c1", message: "too long" });
    expect(refused.outgoing).toEqual([{ ...out, refusal: "too long" }]);
    expect(apply(refused, queued).outgoing).toEqual([out]);
    expect(apply(refused, { type: "discarded", clientKey: "c1" }).outgoing).toEqual([]);
  });
});
