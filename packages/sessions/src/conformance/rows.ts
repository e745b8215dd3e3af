/** Cases about rows: one per key, changed atomically, values never shared with the caller. */
import type { ListQuery, SessionRow } from "../types.ts";
import { assert, type StoreCase, storeCase } from "./kit.ts";

const ROW: SessionRow = { sessionId: "s1", sessionFile: "s1.jsonl", updatedAt: 1, extra: { deep: [1, { a: null }] } };
const KEY = "agent:main:main";

function count(row: SessionRow | undefined): number {
  return typeof row?.count === "number" ? row.count : 0;
}

export const rowCases: readonly StoreCase[] = [
  storeCase("rows: an unknown key has none", async ({ store }) => {
    assert.equal(await store.get(KEY), undefined);
    assert.deepEqual(await store.list(), []);
  }),
  storeCase("rows: what was put is got, unknown fields included", async ({ store }) => {
    assert.deepEqual(await store.update(KEY, () => ROW), ROW);
    assert.deepEqual(await store.get(KEY), ROW);
    assert.deepEqual(await store.list(), [{ key: KEY, row: ROW }]);
  }),
  storeCase("rows: a change sees the present row", async ({ store }) => {
    await store.update(KEY, () => ROW);
    await store.update(KEY, (row) => ({ ...ROW, count: count(row) + 1 }));
    await store.update(KEY, (row) => ({ ...ROW, count: count(row) + 1 }));
    assert.equal(count(await store.get(KEY)), 2);
  }),
  storeCase("rows: null removes, and removing nothing is no error", async ({ store }) => {
    await store.update(KEY, () => ROW);
    assert.equal(await store.update(KEY, () => null), undefined);
    assert.equal(await store.get(KEY), undefined);
    assert.equal(await store.update(KEY, (row) => row), undefined);
    assert.deepEqual(await store.list(), []);
  }),
  storeCase("rows: a change that throws changes nothing and blocks nobody", async ({ store }) => {
    await store.update(KEY, () => ROW);
    await assert.rejects(
      store.update(KEY, () => {
        throw new RangeError("no");
      }),
      RangeError,
    );
    assert.deepEqual(await store.update(KEY, (row) => row), ROW);
  }),
  storeCase("rows: fifty changes at once lose none", async ({ store }) => {
    const changes = Array.from({ length: 50 }, () => store.update(KEY, (row) => ({ ...ROW, count: count(row) + 1 })));
    await Promise.all(changes);
    assert.equal(count(await store.get(KEY)), 50);
  }),
  storeCase("rows: keys with any text are kept apart", async ({ store }) => {
    const keys = ["agent:a:1", "agent:a:1:thread:2", 'agent:a:"quoted"\\', "agent:a:中文", "__proto__", "constructor"];
    for (const key of keys) await store.update(key, () => ({ ...ROW, label: key }));
    for (const key of keys) assert.equal((await store.get(key))?.label, key);
    assert.deepEqual((await store.list()).map(({ key }) => key).toSorted(), keys.toSorted());
  }),
  storeCase("rows: listed by prefix and number, the one last written first", async ({ store }) => {
    const write = (name: string, updatedAt: number) => store.update(`agent:${name}`, () => ({ ...ROW, updatedAt }));
    const names = async (query: ListQuery) => (await store.list(query)).map(({ key }) => key.slice("agent:".length));
    await write("a:1", 10);
    await write("b:1", 30);
    await write("a:2", 20);
    assert.deepEqual(await names({}), ["b:1", "a:2", "a:1"]);
    await write("a:1", 40);
    await write("b:1", 5);
    assert.deepEqual(await names({}), ["a:1", "a:2", "b:1"]);
    assert.deepEqual(await names({ prefix: "agent:a", limit: 1 }), ["a:1"]);
    await store.update("agent:a:1", () => null);
    assert.deepEqual(await names({ limit: 1 }), ["a:2"]);
  }),
  storeCase("rows: another object over the same data sees and changes them", async ({ store, second }) => {
    if (second === null) return;
    const other = await second();
    await store.update(KEY, () => ROW);
    assert.deepEqual(await other.get(KEY), ROW);
    const both = [store, other, store, other].map((one) =>
      one.update(KEY, (row) => ({ ...ROW, count: count(row) + 1 })),
    );
    await Promise.all(both);
    assert.equal(count(await store.get(KEY)), 4);
    assert.equal(count(await other.get(KEY)), 4);
    await other.close();
  }),
];
