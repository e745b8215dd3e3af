/** Cases about logs: begun whole or not at all, extended only from where the caller stands. */
import {
  assert,
  begin,
  committed,
  HEADER,
  idsOf,
  LOG,
  linesOf,
  note,
  sinceOf,
  type StoreCase,
  storeCase,
  there,
} from "./kit.ts";

export const logCases: readonly StoreCase[] = [
  storeCase("logs: one that was not begun is not there", async ({ store }) => {
    assert.equal(await store.read(LOG), undefined);
  }),
  storeCase("logs: begun once, whole; begun again, left alone", async ({ store }) => {
    await begin(store);
    assert.equal(await store.create(LOG, HEADER, [note("other", null)]), "exists");
    assert.deepEqual(await idsOf(store), ["header", "root"]);
  }),
  storeCase("logs: begun by many at once, begun once", async ({ store }) => {
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, n) => store.create(LOG, HEADER, [note(`root-${n}`, null)])),
    );
    assert.equal(outcomes.filter((outcome) => outcome === "created").length, 1);
    assert.equal((await idsOf(store)).length, 2);
  }),
  storeCase("logs: entries come back stamped, in order, as they were given", async ({ store }) => {
    const expect = await begin(store);
    const entries = [note("a", "root", { data: { text: "中\u2028文 \ud800" } }), note("b", "a")];
    const outcome = committed(await store.commit({ log: LOG, expect, entries, sync: true }));
    assert.deepEqual(
      outcome.entries.map((entry) => entry.id),
      ["a", "b"],
    );
    assert.ok(outcome.entries.every((entry) => Number.isSafeInteger(entry.g) && entry.t === undefined));
    const lines = await linesOf(store);
    assert.deepEqual(JSON.parse(JSON.stringify(outcome.entries)), lines.slice(2));
    assert.equal(await sinceOf(store, outcome.position), "none");
    await using reading = await there(store);
    assert.equal(outcome.end, reading.source.size);
  }),
  storeCase("logs: from an old position nothing is written, and what was added is shown", async ({ store }) => {
    const old = await begin(store);
    committed(await store.commit({ log: LOG, expect: old, entries: [note("a", "root")], sync: true }));
    const outcome = await store.commit({ log: LOG, expect: old, entries: [note("b", "root")], sync: true });
    assert.ok(outcome.kind === "behind" && outcome.reading !== undefined);
    assert.equal(outcome.reading.since, "grown");
    await outcome.reading[Symbol.asyncDispose]();
    assert.deepEqual(await idsOf(store), ["header", "root", "a"]);
    const expect = outcome.reading.position;
    committed(await store.commit({ log: LOG, expect, entries: [note("b", "a")], sync: true }));
    assert.deepEqual(await idsOf(store), ["header", "root", "a", "b"]);
  }),
  storeCase("logs: of many commits from one position exactly one is written", async ({ store }) => {
    const expect = await begin(store);
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        store.commit({ log: LOG, expect, entries: [note(`n${n}`, "root")], sync: true }),
      ),
    );
    for (const one of outcomes) if (one.kind === "behind") await one.reading?.[Symbol.asyncDispose]();
    assert.equal(outcomes.filter(({ kind }) => kind === "committed").length, 1);
    assert.equal((await idsOf(store)).length, 3);
  }),
  storeCase("logs: a commit of nothing checks the position and changes nothing", async ({ store }) => {
    const expect = await begin(store);
    const outcome = committed(await store.commit({ log: LOG, expect, entries: [], sync: true }));
    assert.deepEqual(outcome.entries, []);
    assert.deepEqual(await idsOf(store), ["header", "root"]);
  }),
  storeCase("logs: a commit to a log that is not there writes nothing", async ({ store }) => {
    const expect = await begin(store);
    const log = { id: "other", file: "other.jsonl" };
    const outcome = await store.commit({ log, expect, entries: [note("a", null)], sync: true });
    assert.ok(outcome.kind === "behind" && outcome.reading === undefined);
    assert.equal(await store.read(log), undefined);
  }),
  storeCase("logs: a reading stays as it was while the log grows", async ({ store }) => {
    const expect = await begin(store);
    await using reading = await there(store);
    const size = reading.source.size;
    committed(await store.commit({ log: LOG, expect, entries: [note("a", "root")], sync: true }));
    assert.equal(reading.source.size, size);
    await using later = await there(store, reading.position);
    assert.equal(later.since, "grown");
    await using same = await there(store, later.position);
    assert.equal(same.since, "none");
  }),
  storeCase("logs: a writer cannot change what it wrote by changing what it gave", async ({ store }) => {
    const expect = await begin(store);
    const data = { tags: ["a"] };
    const outcome = committed(
      await store.commit({ log: LOG, expect, entries: [note("a", "root", { data })], sync: true }),
    );
    data.tags.push("b");
    assert.deepEqual((await linesOf(store)).at(-1)?.data, { tags: ["a"] });
    assert.equal(outcome.entries.length, 1);
  }),
  storeCase("logs: another writer has a greater generation", async ({ store, second }) => {
    if (second === null) return;
    const other = await second();
    let expect = await begin(store);
    const generations: unknown[] = [];
    for (const [n, one] of [store, store, other, store].entries()) {
      const outcome = committed(await one.commit({ log: LOG, expect, entries: [note(`n${n}`, "root")], sync: true }));
      generations.push(outcome.entries[0]?.g);
      expect = outcome.position;
    }
    const [a, b, c, d] = generations.map(Number);
    assert.ok(a === b && Number(c) > Number(b) && Number(d) > Number(c), `generations ${generations}`);
    await other.close();
  }),
];
