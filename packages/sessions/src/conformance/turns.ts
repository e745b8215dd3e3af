/** Cases about turn rights: a number that only grows, a lease that runs out, an older number that is refused. */
import type { Claim, Right } from "../types.ts";
import { assert, begin, committed, here, idsOf, LOG, note, type StoreCase, storeCase } from "./kit.ts";

const LEASE_MS = 30_000;

function rightOf(claim: Claim): Right {
  assert.equal(claim.kind, "claimed");
  return (claim as Claim & { kind: "claimed" }).right;
}

export const turnCases: readonly StoreCase[] = [
  storeCase("turns: held until released, then the next number", async ({ store }) => {
    await begin(store);
    const first = rightOf(await store.claimTurn(LOG, "a", LEASE_MS));
    const refused = await store.claimTurn(LOG, "b", LEASE_MS);
    assert.ok(refused.kind === "held" && refused.by === "a" && refused.untilMs > 0);
    await store.releaseTurn(LOG, first);
    await store.releaseTurn(LOG, first);
    const second = rightOf(await store.claimTurn(LOG, "b", LEASE_MS));
    assert.ok(second.t > first.t);
    assert.deepEqual([second.session, second.holder], [LOG.id, "b"]);
  }),
  storeCase("turns: of many that claim at once one gets it", async ({ store }) => {
    await begin(store);
    const claims = await Promise.all(Array.from({ length: 10 }, (_, n) => store.claimTurn(LOG, `h${n}`, LEASE_MS)));
    assert.equal(claims.filter(({ kind }) => kind === "claimed").length, 1);
  }),
  storeCase("turns: a lease that ran out is taken, a renewed one is not", async ({ store, advance }) => {
    await begin(store);
    const first = rightOf(await store.claimTurn(LOG, "a", LEASE_MS));
    advance(LEASE_MS / 2);
    assert.equal(await store.renewTurn(LOG, first, LEASE_MS), true);
    advance(LEASE_MS / 2);
    assert.equal((await store.claimTurn(LOG, "b", LEASE_MS)).kind, "held");
    advance(LEASE_MS);
    assert.ok(rightOf(await store.claimTurn(LOG, "b", LEASE_MS)).t > first.t);
    assert.equal(await store.renewTurn(LOG, first, LEASE_MS), false);
  }),
  storeCase("turns: a lease that ran out and was not taken may be renewed; a released one may not", async (fixture) => {
    const { store, advance } = fixture;
    await begin(store);
    const right = rightOf(await store.claimTurn(LOG, "a", LEASE_MS));
    advance(LEASE_MS * 2);
    assert.equal(await store.renewTurn(LOG, right, LEASE_MS), true);
    await store.releaseTurn(LOG, right);
    assert.equal(await store.renewTurn(LOG, right, LEASE_MS), false);
  }),
  storeCase("turns: an old right writes nothing and frees nothing", async ({ store, advance }) => {
    const expect = await begin(store);
    const old = rightOf(await store.claimTurn(LOG, "a", LEASE_MS));
    advance(LEASE_MS + 1);
    const right = rightOf(await store.claimTurn(LOG, "b", LEASE_MS));
    const outcome = await store.commit({ log: LOG, expect, right: old, entries: [note("a", "root")], sync: true });
    assert.deepEqual(outcome, { kind: "stale_turn", t: right.t });
    await store.releaseTurn(LOG, old);
    assert.equal((await store.claimTurn(LOG, "c", LEASE_MS)).kind, "held");
    assert.deepEqual(await idsOf(store), ["header", "root"]);
  }),
  storeCase("turns: the newest right stamps its number; without a right there is none", async ({ store }) => {
    const expect = await begin(store);
    const right = rightOf(await store.claimTurn(LOG, "a", LEASE_MS));
    const mine = committed(await store.commit({ log: LOG, expect, right, entries: [note("a", "root")], sync: true }));
    assert.equal(mine.entries[0]?.t, right.t);
    const other = committed(
      await store.commit({ log: LOG, expect: await here(store), entries: [note("b", "a")], sync: true }),
    );
    assert.equal(other.entries[0]?.t, undefined);
  }),
  storeCase("turns: another object over the same data sees who holds it", async ({ store, second }) => {
    if (second === null) return;
    const other = await second();
    await begin(store);
    const right = rightOf(await store.claimTurn(LOG, "a", LEASE_MS));
    assert.equal((await other.claimTurn(LOG, "b", LEASE_MS)).kind, "held");
    await store.releaseTurn(LOG, right);
    const next = rightOf(await other.claimTurn(LOG, "b", LEASE_MS));
    const entries = [note("a", "root")];
    const stale = await store.commit({ log: LOG, expect: await here(store), right, entries, sync: true });
    assert.deepEqual(stale, { kind: "stale_turn", t: next.t });
    await other.close();
  }),
];
