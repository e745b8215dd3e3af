import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Live } from "../../src/live/live.ts";
import { PlayedOutside, SNAPSHOT } from "../support/outside.ts";

function follow(outside: PlayedOutside): Live {
  const live = new Live("k", outside);
  onTestFinished(() => live.close());
  live.start();
  return live;
}
const listening = (outside: PlayedOutside): Promise<void> => vi.waitFor(() => expect(outside.reader).not.toBeNull());
const text = (words: string) =>
  ({ type: "delta", answerId: "a", delta: { kind: "text", text: words }, durable: false }) as const;

describe("following", () => {
  test("snapshot first, then the stream from its cursor", async () => {
    const outside = new PlayedOutside();
    const live = follow(outside);
    expect(live.view().connection).toBe("connecting");
    await listening(outside);
    expect(outside.cursors).toEqual(["e1:0"]);
    outside.reader?.opened();
    expect(live.view().connection).toBe("live");
  });

  test("a cut stream goes on after the last event, without a new snapshot", async () => {
    const outside = new PlayedOutside();
    const live = follow(outside);
    await listening(outside);
    outside.reader?.opened();
    outside.reader?.event("e1:1", text("one"));
    outside.reader?.ended();
    expect(live.view().state.drafts[0]?.text).toBe("one");
    await vi.waitFor(() => expect(outside.cursors).toEqual(["e1:0", "e1:1"]));
    expect(live.view().connection).toBe("reconnecting");
    expect(outside.snapshots).toHaveLength(1);
  });

  test("a place that is not kept any more means a new snapshot at once", async () => {
    const outside = new PlayedOutside();
    const live = follow(outside);
    await listening(outside);
    outside.snapshot = { ...SNAPSHOT, cursor: "e2:7" };
    outside.reader?.opened();
    outside.reader?.event("e2:0", { type: "snapshot" });
    await vi.waitFor(() => expect(outside.cursors).toEqual(["e1:0", "e2:7"]));
    expect(outside.pauses).toEqual([]);
    expect(live.view().state.stale).toBe(false);
  });

  test("a stream that never opens asks the snapshot why, waiting longer each time", async () => {
    const outside = new PlayedOutside();
    const live = follow(outside);
    for (let round = 1; round <= 3; round++) {
      await vi.waitFor(() => expect(outside.cursors).toHaveLength(round));
      outside.reader?.ended();
    }
    await vi.waitFor(() => expect(outside.snapshots).toHaveLength(4));
    expect(outside.pauses).toEqual([500, 1000, 2000]);
    outside.nextSnapshots = [{ kind: "signed-out" }];
    await vi.waitFor(() => expect(outside.cursors).toHaveLength(4));
    outside.reader?.ended();
    await vi.waitFor(() => expect(live.view().connection).toBe("signed-out"));
    expect(outside.cursors).toHaveLength(4);
  });

  test("says offline when there is no network, and the gateway's words when it refuses", async () => {
    const outside = new PlayedOutside();
    outside.isOnline = false;
    outside.nextSnapshots = [
      { kind: "unreachable" },
      { kind: "refused", code: "no_session", message: "No such session." },
    ];
    const live = new Live("k", outside);
    onTestFinished(() => live.close());
    const seen: unknown[] = [];
    live.subscribe(() => seen.push([live.view().connection, live.view().refusal]));
    live.start();
    await listening(outside);
    expect(seen).toContainEqual(["offline", null]);
    expect(seen).toContainEqual(["reconnecting", "No such session."]);
    expect(live.view().refusal).toBeNull();
  });

  test("closing ends the stream and asks nothing more", async () => {
    const outside = new PlayedOutside();
    const live = follow(outside);
    await listening(outside);
    live.close();
    expect(outside.reader).toBeNull();
    await Promise.resolve();
    expect(outside.snapshots).toHaveLength(1);
  });
});

describe("sending", () => {
  test("is repeated under the same key until accepted, in order", async () => {
    const outside = new PlayedOutside();
    outside.nextSends = [{ kind: "unreachable" }, { kind: "unreachable" }];
    const live = follow(outside);
    live.send("first");
    live.send("second");
    expect(live.view().state.outgoing.map((out) => out.text)).toEqual(["first", "second"]);
    await vi.waitFor(() => expect(live.view().state.outgoing).toEqual([]));
    expect(outside.sent.map((sent) => `${sent.clientKey} ${sent.text}`)).toEqual([
      "c1 first",
      "c1 first",
      "c1 first",
      "c2 second",
    ]);
    expect(outside.kept.size).toBe(0);
  });

  test("what was not accepted is kept, and sent by the next page under its old key", async () => {
    const before = new PlayedOutside();
    before.nextSends = Array.from({ length: 1 }, () => ({ kind: "signed-out" }) as const);
    const live = follow(before);
    live.send("do not lose me");
    await vi.waitFor(() => expect(live.view().connection).toBe("signed-out"));
    expect(before.kept.size).toBe(1);

    const after = new PlayedOutside();
    for (const [name, value] of before.kept) after.kept.set(name, value);
    const next = follow(after);
    await vi.waitFor(() => expect(next.view().state.outgoing).toEqual([]));
    expect(after.sent).toEqual([{ text: "do not lose me", clientKey: "c1" }]);
  });

  test("a refused message stays with its reason, does not stop others, and can be sent again", async () => {
    const outside = new PlayedOutside();
    outside.nextSends = [{ kind: "refused", code: "too_large", message: "Too long." }];
    const live = follow(outside);
    live.send("long");
    live.send("short");
    await vi.waitFor(() => expect(outside.sent).toHaveLength(2));
    const [refused] = live.view().state.outgoing;
    expect(refused).toMatchObject({ text: "long", refusal: "Too long." });
    if (refused) live.resend(refused);
    await vi.waitFor(() => expect(live.view().state.outgoing).toEqual([]));
    expect(outside.sent.at(-1)).toEqual({ text: "long", clientKey: "c1" });
  });

  test("what cannot be read in the kept outbox is left out", () => {
    const outside = new PlayedOutside();
    for (const damaged of ["{", '"x"', '[{"text":1}]', "[null]"]) {
      outside.kept.set("holdfast.outbox.k", damaged);
      expect(new Live("k", outside).view().state.outgoing).toEqual([]);
    }
  });
});

describe("reading back", () => {
  test("asks for what is before the oldest known entry, and only while there is more", async () => {
    const outside = new PlayedOutside();
    outside.snapshot = { ...SNAPSHOT, more: "e9" };
    const live = follow(outside);
    await listening(outside);
    outside.snapshot = SNAPSHOT;
    await live.older();
    await live.older();
    expect(outside.snapshots).toEqual([null, "e9"]);
  });
});
