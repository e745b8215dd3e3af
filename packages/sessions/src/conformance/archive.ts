/** Cases about putting away: moved whole, only from where the caller stands, back byte for byte, and found meanwhile. */
import { archivedFile } from "../archive-name.ts";
import type { LogRef, SessionStore } from "../store.ts";
import { assert, begin, committed, HEADER, here, LOG, note, type StoreCase, storeCase } from "./kit.ts";

const AWAY: LogRef = { id: LOG.id, file: archivedFile({ id: LOG.id, reason: "archive", atMs: 1_767_323_045_678 }) };

async function bytesOf(store: SessionStore, log: LogRef): Promise<string> {
  const reading = await store.read(log);
  assert.ok(reading, `${log.file} is there`);
  await using now = reading;
  return (await now.source.read(0, now.source.size)).toString("latin1");
}

/** Where the one log of this store is, by name. */
async function placeOf(store: SessionStore): Promise<unknown> {
  const [only, ...more] = await store.logs();
  assert.equal(more.length, 0);
  return only?.archived === null ? "live" : only?.archived.reason;
}

export const archiveCases: readonly StoreCase[] = [
  storeCase("archive: moved whole, and nothing is written to it there", async ({ store }) => {
    const expect = await begin(store);
    const before = await bytesOf(store, LOG);
    assert.equal(await placeOf(store), "live");
    assert.equal(await store.archive(LOG, AWAY, expect), "archived");
    assert.equal(await store.read(LOG), undefined);
    const outcome = await store.commit({ log: LOG, expect, entries: [note("late", "root")], sync: true });
    assert.ok(outcome.kind === "behind" && outcome.reading === undefined);
    assert.equal(await bytesOf(store, AWAY), before);
    assert.equal(await placeOf(store), "archive");
  }),
  storeCase("archive: not from an old position", async ({ store }) => {
    const old = await begin(store);
    committed(await store.commit({ log: LOG, expect: old, entries: [note("a", "root")], sync: true }));
    assert.equal(await store.archive(LOG, AWAY, old), "behind");
    assert.equal(await placeOf(store), "live");
    assert.equal(await store.archive(LOG, AWAY, await here(store)), "archived");
  }),
  storeCase("archive: discarded it is gone, packed or not; a live log of that id is not touched", async ({ store }) => {
    await begin(store);
    for (const pack of [false, true]) {
      await store.archive(LOG, AWAY, await here(store));
      if (pack) await store.pack(AWAY, LOG);
      await begin(store);
      assert.equal(await store.discard(AWAY, LOG), true);
      assert.equal(await store.discard(AWAY, LOG), false);
      assert.equal(await placeOf(store), "live");
      assert.equal(await store.restore(AWAY, LOG), "restored");
    }
  }),
  storeCase("archive: done twice is done once; one that is nowhere is missing", async ({ store }) => {
    const expect = await begin(store);
    assert.equal(
      await store.archive({ id: "other", file: "other.jsonl" }, { ...AWAY, id: "other" }, expect),
      "missing",
    );
    await store.archive(LOG, AWAY, expect);
    assert.equal(await store.archive(LOG, AWAY, expect), "archived");
  }),
  storeCase("archive: back byte for byte, packed or not, and it goes on", async ({ store }) => {
    await begin(store);
    const before = await bytesOf(store, LOG);
    for (const pack of [false, true]) {
      await store.archive(LOG, AWAY, await here(store));
      if (pack) await store.pack(AWAY, LOG);
      assert.equal(await placeOf(store), "archive");
      assert.equal(await store.restore(AWAY, LOG), "restored");
      assert.equal(await store.restore(AWAY, LOG), "restored");
      assert.equal(await bytesOf(store, LOG), before);
      assert.equal(await placeOf(store), "live");
    }
    const entries = [note("next", "root")];
    committed(await store.commit({ log: LOG, expect: await here(store), entries, sync: true }));
  }),
  storeCase("archive: nothing to restore is missing; what has the name is not replaced", async ({ store }) => {
    assert.equal(await store.restore(AWAY, LOG), "missing");
    const expect = await begin(store);
    await store.archive(LOG, AWAY, expect);
    assert.equal(await store.create(LOG, HEADER, [note("another", null)]), "created");
    assert.equal(await store.restore(AWAY, LOG), "exists");
    assert.match(await bytesOf(store, LOG), /another/);
    assert.match(await bytesOf(store, AWAY), /root/);
  }),
  storeCase("archive: the numbers go on when it comes back", async ({ store }) => {
    const expect = await begin(store);
    const claim = await store.claimTurn(LOG, "a", 1000);
    assert.ok(claim.kind === "claimed");
    assert.equal((await store.logs())[0]?.leased, true);
    await store.releaseTurn(LOG, claim.right);
    assert.equal((await store.logs())[0]?.leased, false);
    await store.archive(LOG, AWAY, expect);
    await store.restore(AWAY, LOG);
    const next = await store.claimTurn(LOG, "b", 1000);
    assert.ok(next.kind === "claimed" && next.right.t > claim.right.t);
  }),
  storeCase("archive: a log may be begun by a stream of entries, and is whole or not there", async ({ store }) => {
    async function* two() {
      yield note("root", null);
      yield note("a", "root");
    }
    assert.equal(await store.create(LOG, HEADER, two()), "created");
    assert.match(await bytesOf(store, LOG), /"root".*\n.*"a"/);
    const other: LogRef = { id: "other", file: "other.jsonl" };
    async function* broken() {
      yield note("root", null);
      throw new RangeError("no more");
    }
    await assert.rejects(store.create(other, { ...HEADER, id: "other" }, broken()), RangeError);
    assert.equal(await store.read(other), undefined);
  }),
];
