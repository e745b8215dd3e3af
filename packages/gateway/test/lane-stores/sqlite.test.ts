/** The SQLite lanes against the conformance cases, and what only a file can get wrong. */
import { mkdirSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { realWorld } from "@holdfast/base";
import { expect, test } from "vitest";
import { laneCases } from "../../src/conformance/lanes.ts";
import { sqliteLanes, threadedLanes } from "../../src/lane-stores/sqlite.ts";
import { openLaneFile } from "../../src/lane-stores/sqlite/file.ts";
import { NEXT, NEXT_DUE } from "../../src/lane-stores/sqlite/statements.ts";
import type { Step } from "../../src/lane-stores/sqlite/steps.ts";
import { temporaryHome } from "../support/home.ts";

const world = realWorld();
const open = async () => sqliteLanes(join(await temporaryHome(), "lanes.sqlite"), world);

for (const { group, name, run } of laneCases(open)) test(`${group}: ${name}`, run);
const openThreaded = async () => threadedLanes(join(await temporaryHome(), "lanes.sqlite"), world);
for (const { group, name, run } of laneCases(openThreaded)) test(`in a thread: ${group}: ${name}`, run);

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

test.each([
  ["the next item", NEXT],
  ["when the next is due", NEXT_DUE],
])("%s is found through the open items of the lane; what has ended is not looked at", async (_name, text) => {
  const path = join(await temporaryHome(), "lanes.sqlite");
  openLaneFile(path).close();
  const db = new DatabaseSync(path);
  const values = { lane: "main", now: 1, delayMax: 1, lease: 1 };
  const plan = db.prepare(`explain query plan ${text}`);
  plan.setAllowUnknownNamedParameters(true);
  const looks = plan.all(values).map((row) => String(row.detail));
  db.close();
  for (const look of looks.filter((each) => /\b(item|earlier|busy)\b/.test(each)))
    expect(look).toMatch(/^SEARCH .* USING (COVERING )?INDEX items_(open|queued|claimed) /);
  expect(looks.length).toBeGreaterThan(2);
});

test("steps that are asked at once are one commit; one that is not possible takes no other with it", () => {
  const path = join(mkdtempSync(join(tmpdir(), "holdfast-lanes-")), "lanes.sqlite");
  const file = openLaneFile(path);
  const enqueue = (key: string): Step => {
    const item = { id: key, lane: "main", key, queue: key, body: {} } as const;
    return { kind: "enqueue", item, also: [], nowMs: 1 };
  };
  const note = { kind: "note", id: "b", patch: { attempts: 1 } } as const;
  const wal = () => statSync(`${path}-wal`).size;
  const before = wal();
  file.run([enqueue("a")]);
  const one = wal() - before;
  const outcomes = file.run([
    enqueue("b"),
    { kind: "commit", holder: "nobody", changes: [{ kind: "wake", id: "a" }, note], nowMs: 2 },
    { kind: "claim", request: { lane: "main", holder: "me", nowMs: 2, leaseMs: 9 } },
    enqueue("c"),
    { kind: "get", id: "c" },
  ]);
  expect(outcomes.map((outcome) => outcome.kind === "done" && outcome.value)).toMatchObject([
    { fresh: true },
    false,
    { id: "a", state: "claimed" },
    { fresh: true },
    { id: "c" },
  ]);
  // Each commit appends every page it touched; three of them would be more than twice one.
  expect(wal() - before - one).toBeLessThan(2 * one);
  file.close();
});

test("a commit that fails fails for nobody who could have been served alone", () => {
  const path = join(mkdtempSync(join(tmpdir(), "holdfast-lanes-")), "lanes.sqlite");
  const file = openLaneFile(path);
  const db = new DatabaseSync(path);
  // Ends the whole transaction, as a full disk does.
  db.exec(
    `create trigger full before insert on items when new.key = 'bad' begin select raise(rollback, 'disk full'); end`,
  );
  db.close();
  const enqueue = (key: string): Step => {
    const item = { id: key, lane: "main", key, queue: key, body: {} } as const;
    return { kind: "enqueue", item, also: [], nowMs: 1 };
  };
  const outcomes = file.run([enqueue("a"), enqueue("bad"), enqueue("c")]);
  expect(outcomes).toMatchObject([
    { kind: "done", value: { fresh: true } },
    { kind: "error", code: "lane_write_failed", details: { why: "disk full" } },
    { kind: "done", value: { fresh: true } },
  ]);
  const kept = file.run([{ kind: "list", query: { lane: "main" } }]);
  expect(kept).toMatchObject([{ kind: "done", value: [{ id: "a" }, { id: "c" }] }]);
  file.close();
});

test("a thread that cannot open the file says why; one that is gone refuses every call", async () => {
  const path = join(await temporaryHome(), "lanes.sqlite");
  mkdirSync(path);
  await expect(threadedLanes(path, world)).rejects.toMatchObject({ code: "lanes_unusable", details: { file: path } });
  const store = await openThreaded();
  await store.close();
  await expect(store.get("x")).rejects.toMatchObject({ code: "lanes_unusable" });
  await store.close();
});

test("calls that are open when the thread is asked to close are answered first", async () => {
  const store = await openThreaded();
  const item = { lane: "main", queue: "q", body: {} } as const;
  const asked = ["a", "b", "c"].map((key) => store.enqueue({ ...item, key }, 1));
  const closed = store.close();
  expect((await Promise.all(asked)).map(({ fresh }) => fresh)).toEqual([true, true, true]);
  await closed;
});
