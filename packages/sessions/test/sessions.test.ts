/** Many conversations in one store: one object per key, rows, keys that are refused, closing, policies. */
import { readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { identityOf } from "@holdfast/base";
import { type Fsync, memorySessions, openSessions, openTranscript } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { runChild } from "./support/child.ts";
import { testDirectory } from "./support/directories.ts";
import { answer, user } from "./support/entries.ts";

const KEY = "agent:main:main";

describe("one object per key", () => {
  test("opened many times at once it is one, new once, and lives until the last close", async () => {
    await using sessions = memorySessions();
    const opened = await Promise.all([1, 2, 3].map(() => sessions.open(KEY)));
    const [first] = opened;
    expect(new Set(opened).size).toBe(1);
    await first?.close();
    await first?.close();
    await first?.append(user("still"));
    await first?.close();
    await expect(first?.append(user("x"))).rejects.toMatchObject({ code: "closed" });
    const again = await sessions.open(KEY);
    expect(again).not.toBe(first);
    expect([again.found, (await again.context()).messages.length]).toEqual(["resumed", 1]);
  });

  test("two stores that open a new key at once get one transcript", async () => {
    await using directory = await testDirectory();
    const stores = await Promise.all([1, 2, 3].map(() => openSessions({ directory: directory.path })));
    const opened = await Promise.all(stores.map((one) => one.open(KEY)));
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
    expect(opened.filter(({ found }) => found === "new")).toHaveLength(1);
    await Promise.all(opened.map((one, n) => one.append(user(`n${n}`))));
    await opened[0]?.catchUp();
    expect(opened[0]?.path()).toHaveLength(4);
    await Promise.all(stores.map((one) => one.close()));
  });

  test("closing the store ends its sessions after what is on its way", async () => {
    await using directory = await testDirectory();
    const sessions = await openSessions({ directory: directory.path });
    const session = await sessions.open(KEY);
    const written = session.append(user("on its way"));
    await sessions.close();
    expect((await written).durable).toBe(true);
    await expect(session.append(user("x"))).rejects.toMatchObject({ code: "closed" });
    await expect(sessions.open(KEY)).rejects.toMatchObject({ code: "closed" });
    await sessions.close();
  });

  test("a transcript that was taken away is begun anew, and that is said", async () => {
    await using directory = await testDirectory();
    const problems: unknown[] = [];
    const onProblem = (problem: unknown) => void problems.push(problem);
    await using sessions = await openSessions({ directory: directory.path, onProblem });
    await using other = await openSessions({ directory: directory.path, onProblem });
    const session = await other.open(KEY);
    await other.update(KEY, { status: "done" });
    await rm(session.file ?? "");
    const again = await sessions.open(KEY);
    expect([again.id, again.found]).toEqual([session.id, "new"]);
    expect(problems).toMatchObject([{ code: "transcript_lost" }]);
  });
});

describe("rows", () => {
  test("a patch sets, removes and keeps; what identifies the transcript stays", async () => {
    await using sessions = memorySessions();
    await expect(sessions.update(KEY, { label: "x" })).rejects.toMatchObject({ code: "session_missing" });
    await using session = await sessions.open(KEY, { channel: "web" });
    expect(await sessions.get(KEY)).toMatchObject({ state: "opening", channel: "web" });
    await sessions.update(KEY, { label: "x", mine: [1] });
    const row = await sessions.update(KEY, { label: undefined });
    expect(row).toMatchObject({ sessionId: session.id, mine: [1], channel: "web" });
    expect(row).not.toHaveProperty("label");
    expect(row).not.toHaveProperty("state");
    await expect(sessions.update(KEY, { sessionFile: "../x" })).rejects.toMatchObject({ code: "bad_entry" });
    expect(await sessions.get(KEY)).toEqual(row);
  });

  test("listed newest first, by prefix, up to a limit", async () => {
    await using sessions = memorySessions();
    for (const [n, name] of ["a", "b", "c"].entries()) {
      await using _session = await sessions.open(`agent:main:web:group:${name}`);
      await sessions.update(`agent:main:web:group:${name}`, { updatedAt: n });
    }
    await using _other = await sessions.open("agent:other:main");
    const keys = (await sessions.list({ prefix: "agent:main:", limit: 2 })).map(({ key }) => key);
    expect(keys).toEqual(["agent:main:web:group:c", "agent:main:web:group:b"]);
  });

  test.each(["", "main", "agent:main:../../etc/passwd", "agent:main:a\nb", "agent::main"])(
    "the key %j is bad_key and leaves no trace",
    async (key) => {
      await using directory = await testDirectory();
      await using sessions = await openSessions({ directory: directory.path });
      await expect(sessions.open(key)).rejects.toMatchObject({ code: "bad_key" });
      await expect(sessions.update(key, {})).rejects.toMatchObject({ code: "bad_key" });
      expect((await readdir(directory.path)).filter((name) => name !== ".store.json")).toEqual([]);
    },
  );
});

describe("the store on disk", () => {
  test("files are for their owner only", async () => {
    await using directory = await testDirectory();
    const path = join(directory.path, "a", "b");
    await using sessions = await openSessions({ directory: path });
    await using session = await sessions.open(KEY);
    await session.append(user("x"));
    expect((await stat(path)).mode & 0o777).toBe(0o700);
    for (const name of await readdir(path))
      expect([name, (await stat(join(path, name))).mode & 0o777]).toEqual([name, 0o600]);
  });

  test("a store that is locked another way is refused", async () => {
    await using directory = await testDirectory();
    await writeFile(join(directory.path, ".store.json"), '{"format":1,"lock":"lease"}\n');
    await expect(openSessions({ directory: directory.path })).rejects.toMatchObject({ code: "lock_mode_unavailable" });
    await writeFile(join(directory.path, ".store.json"), '{"format":1,"lock":"kernel"}\n');
    const asked = openSessions({ directory: directory.path, writeLock: { mode: "create" } });
    await expect(asked).rejects.toMatchObject({ code: "lock_mode_unavailable" });
  });

  test.each<[Fsync, boolean, boolean, boolean]>([
    ["always", true, true, true],
    ["turn", true, true, false],
    ["never", false, false, false],
  ])("under fsync %s user, answer and label are durable: %s %s %s", async (fsync, ...expected) => {
    await using directory = await testDirectory();
    await using sessions = await openSessions({ directory: directory.path, fsync });
    await using session = await sessions.open(KEY);
    const label = { type: "label", targetId: "x" };
    const durable: boolean[] = [];
    for (const entry of [user("x"), answer("y"), label]) durable.push((await session.append(entry)).durable);
    expect(durable).toEqual(expected);
    expect((await session.append(label, { sync: true })).durable).toBe(true);
  });
});

describe("turn rights of a dead holder", () => {
  test("are taken at once, long before the lease ends; those of a living one are not", async () => {
    await using directory = await testDirectory();
    await using sessions = await openSessions({ directory: directory.path });
    await using session = await sessions.open(KEY);
    const ended = await runChild("./identity.ts", []);
    const dead = await session.claimTurn(ended.lines[0] ?? "", 3_600_000);
    const mine = JSON.stringify(identityOf("me"));
    const taken = await session.claimTurn(mine, 3_600_000);
    expect([dead.kind, taken.kind]).toEqual(["claimed", "claimed"]);
    expect(await session.claimTurn("other", 3_600_000)).toMatchObject({ kind: "held", by: mine });
  });
});

describe("a bare transcript", () => {
  test("can be begun, appended to and branched without a store, also next to one that has it open", async () => {
    await using directory = await testDirectory();
    const path = join(directory.path, "t.jsonl");
    await using bare = await openTranscript(path, { create: true });
    const one = (await bare.append(user("one"))).entries[0]?.id ?? "";
    await bare.append(user("two"));
    await bare.branch(one);
    await using other = await openTranscript(path);
    expect((await other.append(user("three"))).change).toBe("none");
    expect((await bare.append(user("four"))).change).toBe("turn");
    expect((await bare.context()).messages.map(({ content }) => content)).toEqual(["one", "three", "four"]);
    expect(bare.file).toBe(path);
  });
});
