/** The SQLite lanes against the conformance cases, and what only a file can get wrong. */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { realWorld } from "@holdfast/base";
import { expect, test } from "vitest";
import { laneCases } from "../../src/conformance/lanes.ts";
import { sqliteLanes } from "../../src/lane-stores/sqlite.ts";
import { temporaryHome } from "../support/home.ts";

const world = realWorld();
const open = async () => sqliteLanes(join(await temporaryHome(), "lanes.sqlite"), world);

for (const { group, name, run } of laneCases(open)) test(`${group}: ${name}`, run);

test("what was enqueued is there after closing and opening; claims and notes too", async () => {
  const path = join(await temporaryHome(), "lanes.sqlite");
  const first = sqliteLanes(path, world);
  const { item } = await first.enqueue({ lane: "main", key: "k", queue: "q", body: { text: "hello" } }, 1);
  await first.claim({ lane: "main", holder: "one", nowMs: 1, leaseMs: 10 });
  const patch = { start: { sessionId: "s", leaf: "l" }, attempts: 1 };
  expect(await first.commit("one", [{ kind: "note", id: item.id, patch }], 1)).toBe(true);
  await first.close();
  const second = sqliteLanes(path, world);
  expect(await second.get(item.id)).toMatchObject({
    state: "claimed",
    attempts: 1,
    start: { sessionId: "s", leaf: "l" },
  });
  await second.close();
});

test("a file of version 1 is brought over with all that is in it", async () => {
  const path = join(await temporaryHome(), "lanes.sqlite");
  const store = sqliteLanes(path, world);
  const { item } = await store.enqueue({ lane: "main", key: "k", queue: "q", body: { text: "hello" } }, 1);
  await store.close();
  const db = new DatabaseSync(path);
  db.exec("alter table items drop column joined; pragma user_version = 1;");
  db.close();
  const again = sqliteLanes(path, world);
  expect(await again.get(item.id)).toEqual(item);
  expect((await again.enqueue({ lane: "main", key: "k", queue: "q", body: {} }, 2)).fresh).toBe(false);
  const claimed = await again.claim({ lane: "main", holder: "me", nowMs: 2, leaseMs: 9 });
  expect(await again.commit("me", [{ kind: "park", id: claimed!.id, result: { why: "yes?" } }], 3)).toBe(true);
  expect(await again.get(item.id)).toMatchObject({ state: "waiting" });
  await again.close();
});

test("the file is private, in WAL mode, and syncs fully", async () => {
  const path = join(await temporaryHome(), "lanes.sqlite");
  const store = sqliteLanes(path, world);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const db = new DatabaseSync(path);
  expect(db.prepare("pragma journal_mode").get()).toEqual({ journal_mode: "wal" });
  db.close();
  await store.close();
});

test.each([
  ["a directory in its place", (path: string) => mkdirSync(path)],
  ["a file that is no database", (path: string) => writeFileSync(path, "not a database, certainly".repeat(100))],
  [
    "a newer version",
    (path: string) => {
      const db = new DatabaseSync(path);
      db.exec("pragma user_version = 99");
      db.close();
    },
  ],
])("%s is lanes_unusable", async (_name, spoil) => {
  const path = join(await temporaryHome(), "lanes.sqlite");
  spoil(path);
  expect(() => sqliteLanes(path, world)).toThrow(expect.objectContaining({ code: "lanes_unusable" }));
});
