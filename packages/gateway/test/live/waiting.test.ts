/** Waiting for an item: all who wait are woken, and whoever leaves is forgotten. */
import { expect, test } from "vitest";
import { createWaiting } from "../../src/live/waiting.ts";

const never = new AbortController().signal;

test("everybody who waits for the item is woken, nobody else", async () => {
  const waiting = createWaiting();
  const mine = [waiting.next("a", never), waiting.next("a", never)];
  let other = false;
  void waiting.next("b", never).then(() => {
    other = true;
  });
  waiting.notify("a");
  await Promise.all(mine);
  expect(other).toBe(false);
});

test("whoever leaves is rejected with the reason", async () => {
  const waiting = createWaiting();
  const leave = new AbortController();
  const left = waiting.next("a", leave.signal);
  leave.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  await expect(waiting.next("a", leave.signal)).rejects.toThrow("gone");
});
