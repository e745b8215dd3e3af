/** What becomes of a message that arrives while others wait, case by case. */
import { expect, test } from "vitest";
import { type Present, plan, type QueueSettings, type Waiting } from "../../src/queue/plan.ts";

const settings: QueueSettings = { mode: "collect", debounceMs: 1_000, cap: 3, drop: "summarize" };

const from = (id: string) => ({ id, name: null, owner: id === "owner" });
const message = (text: string, by = "owner") => ({ message: { text, from: from(by) } });
const waits = (id: string, by = "owner", acceptedMs = 0): Waiting => ({
  id,
  message: { text: id, from: from(by) } as Waiting["message"],
  free: true,
  dropped: [],
  approvals: [],
  acceptedMs,
});
const present = (waiting: readonly Waiting[], running: readonly string[] = ["owner"], nowMs = 0): Present => ({
  waiting,
  running,
  nowMs,
});

test("a stop by the owner stops anybody's work and drops all that waits", () => {
  const planned = plan(message("停"), present([waits("a", "bob"), waits("b")], ["bob"]), settings);
  expect(planned).toEqual({ kind: "stop", drops: ["a", "b"] });
});

test("in a shared conversation one's stop ends one's own work only, and drops one's own messages only", () => {
  const waiting = [waits("a", "bob"), waits("b", "eve")];
  expect(plan(message("stop", "bob"), present(waiting, ["bob"]), settings)).toEqual({ kind: "stop", drops: ["a"] });
  expect(plan(message("stop", "bob"), present(waiting, ["eve"]), settings)).toMatchObject({ kind: "queue", drops: [] });
});

test("a stop when nothing runs is still a stop", () => {
  expect(plan(message("stop", "bob"), present([waits("a", "bob")], []), settings)).toEqual({
    kind: "stop",
    drops: ["a"],
  });
});

test("quiet is waited for from the newest message on; whoever never stops is answered at last", () => {
  const waiting = [waits("old", "owner", 0), waits("new", "owner", 9_500)];
  expect(plan(message("more"), present(waiting, ["owner"], 9_900), settings)).toMatchObject({
    laterMs: 1_000,
    delays: ["old", "new"],
  });
  expect(plan(message("more"), present(waiting, ["owner"], 10_000), settings)).toMatchObject({ delays: ["new"] });
});

test("nothing is waited for when nobody is busy, and a steering message never waits", () => {
  expect(plan(message("hello"), present([], []), settings)).toMatchObject({ laterMs: 0, delays: [] });
  expect(plan(message("left"), present([waits("a")]), { ...settings, mode: "steer" })).toMatchObject({
    laterMs: 0,
    delays: [],
  });
});
