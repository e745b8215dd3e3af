/** A failed sync: nothing is acknowledged, the object writes no more, the next opening goes on from what is on disk. */
import { expect, test } from "vitest";
import { SessionError } from "../src/errors.ts";
import { openSession } from "../src/session.ts";
import { memoryStore } from "../src/stores/memory/store.ts";
import type { LogStore } from "../src/store.ts";
import { user } from "./support/entries.ts";
import { movableWorld } from "./support/worlds.ts";

const LOG = { id: "s1", file: "s1.jsonl" };
const HEADER = { type: "session", version: 3, id: "s1", timestamp: "2026-01-01T00:00:00.000Z" } as const;

test("all that wait fail, later appends fail the same way, a retry under the same id finds the entry", async () => {
  const world = movableWorld();
  const real = memoryStore(world);
  await real.create(LOG, HEADER, []);
  const failing: LogStore = {
    create: (log, header, entries) => real.create(log, header, entries),
    claimTurn: (log, holder, leaseMs) => real.claimTurn(log, holder, leaseMs),
    renewTurn: (log, right, leaseMs) => real.renewTurn(log, right, leaseMs),
    releaseTurn: (log, right) => real.releaseTurn(log, right),
    read: (log, since) => real.read(log, since),
    pathOf: () => null,
    async commit(request) {
      // The lines are in the page cache, the sync fails: what a dying disk does.
      await real.commit(request);
      throw new SessionError("write_failed", { file: LOG.file, step: "sync", errno: "EIO" });
    },
  };
  const parts = { key: "k", log: LOG, found: "resumed", world, fsync: "always", onClose: () => {} } as const;
  const opened = await openSession({ ...parts, store: failing });
  const both = await Promise.allSettled(["a", "b"].map((id) => opened.session.append({ ...user(id), id })));
  for (const one of both) expect(one).toMatchObject({ status: "rejected", reason: { code: "write_failed" } });
  await expect(opened.session.append(user("c"))).rejects.toMatchObject({ code: "write_failed" });
  expect(opened.isUsable()).toBe(false);
  const again = await openSession({ ...parts, store: real });
  const retried = await again.session.append({ ...user("a"), id: "a" });
  expect(retried.entries[0]?.id).toBe("a");
  expect((await again.session.since(null)).map(({ id }) => id)).toEqual(["a", "b"]);
});
