/** Nothing missed, nothing twice, or a clear word that a snapshot is needed. */
import { realWorld } from "@holdfast/base";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createHub, type Hub } from "../../src/live/hub.ts";
import type { WireEvent } from "../../src/wire/index.ts";

const world = realWorld();
const withdrawn = (answerId: string): WireEvent => ({ type: "withdrawn", answerId });
const delta = (text: string): WireEvent => ({
  type: "delta",
  answerId: "a",
  delta: { kind: "text", text },
  durable: false,
});

function collect(hub: Hub, key: string, after: string | null): { ids: string[]; events: WireEvent[] } & Disposable {
  const ids: string[] = [];
  const events: WireEvent[] = [];
  const listening = hub.listen(key, after, (id, event) => {
    ids.push(id);
    events.push(event);
  });
  return { ids, events, [Symbol.dispose]: () => listening[Symbol.dispose]() };
}

test("wherever a client stops and comes back, it sees each event of its session once, in order", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("a", "b"), { maxLength: 40 }), fc.nat(40), (keys, cut) => {
      const hub = createHub(world);
      const start = hub.cursor("a");
      const before = collect(hub, "a", null);
      keys.slice(0, cut).forEach((key, index) => void hub.publish(key, withdrawn(String(index))));
      before[Symbol.dispose]();
      keys.slice(cut).forEach((key, index) => void hub.publish(key, withdrawn(String(cut + index))));
      const after = collect(hub, "a", before.ids.at(-1) ?? start);
      const expected = keys.flatMap((key, index) => (key === "a" ? [withdrawn(String(index))] : []));
      expect([...before.events, ...after.events]).toEqual(expected);
    }),
  );
});

test.each([["nonsense"], ["other-epoch:1"], [":"], ["-1"]])(
  "a place it does not know (%s) is answered with snapshot",
  (after) => {
    expect(collect(createHub(world), "a", after).events).toEqual([{ type: "snapshot" }]);
  },
);

test("a place that is not kept any more, or not reached yet, is answered with snapshot; the oldest kept one is not", () => {
  const hub = createHub(world, 3);
  const first = hub.cursor("a");
  for (let index = 1; index <= 4; index++) hub.publish("a", withdrawn(String(index)));
  expect(collect(hub, "a", first).events).toEqual([{ type: "snapshot" }]);
  const epoch = first.split(":")[0];
  expect(collect(hub, "a", `${epoch}:1`).events).toHaveLength(3);
  expect(collect(hub, "a", `${epoch}:9`).events).toEqual([{ type: "snapshot" }]);
});

test("a snapshot taken while an answer streams goes on before its first piece", () => {
  const hub = createHub(world);
  hub.publish("a", withdrawn("x"));
  for (const text of ["one", "two"]) hub.publish("a", delta(text));
  hub.publish("b", delta("other"));
  expect(collect(hub, "a", hub.cursor("a")).events).toEqual([delta("one"), delta("two")]);
  hub.publish("a", { type: "entries", entries: [], durable: true, leaf: null });
  expect(collect(hub, "a", hub.cursor("a")).events).toEqual([]);
});

test("an answer longer than the ring does not send clients round in circles", () => {
  const hub = createHub(world, 3);
  for (let index = 0; index < 10; index++) hub.publish("a", delta(String(index)));
  expect(collect(hub, "a", hub.cursor("a")).events).toHaveLength(3);
});

test("who left is told nothing more", () => {
  const hub = createHub(world);
  const one = collect(hub, "a", null);
  const two = collect(hub, "a", null);
  one[Symbol.dispose]();
  hub.publish("a", withdrawn("x"));
  expect([one.events.length, two.events.length]).toEqual([0, 1]);
});
