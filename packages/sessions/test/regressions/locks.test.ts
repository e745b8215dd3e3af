/** Bug cases of topic d (locks and owners) that concern the store, by their ids. */
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { identityOf } from "@holdfast/base";
import { openSessions, openTranscript, type Sessions } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { runChild } from "../support/child.ts";
import { testDirectory } from "../support/directories.ts";
import { user } from "../support/entries.ts";

const KEY = "agent:main:main";

/** Below the wait of anybody who has to wait for a lock that nobody gives back. */
const AT_ONCE = { timeoutMs: 2_000 };

const open = (directory: string, mode: string, onProblem = (_: unknown): void => {}): Promise<Sessions> =>
  openSessions({ directory, onProblem, writeLock: mode === "create" ? { ...AT_ONCE, mode } : AT_ONCE });

const texts = (sessions: Sessions): Promise<unknown[]> =>
  sessions.open(KEY).then(async (session) => (await session.context()).messages.map(({ content }) => content));

test.each(["kernel", "create"])(
  "B052 the lock of a dead process is taken over at once, and said (%s)",
  async (mode) => {
    await using directory = await testDirectory();
    const dead = (await runChild("./identity.ts", [])).lines[0];
    const problems: unknown[] = [];
    await using sessions = await open(directory.path, mode, (one) => void problems.push(one));
    await using session = await sessions.open(KEY);
    await writeFile(`${session.file}.held`, `${dead}\n`);
    await session.append(user("answered"));
    expect(await texts(sessions)).toEqual(["answered"]);
    expect(problems).toMatchObject(mode === "create" ? [{ code: "lock_reclaimed" }] : []);
  },
);

test("B054 our own pid in the lock of an earlier process is not us; the same pid in another container may be alive", async () => {
  await using directory = await testDirectory();
  await using sessions = await open(directory.path, "create");
  await using session = await sessions.open(KEY);
  await writeFile(`${session.file}.held`, `${JSON.stringify({ ...identityOf("earlier"), start: "1" })}\n`);
  await session.append(user("reclaimed"));
  await writeFile(`${session.file}.held`, `${JSON.stringify({ ...identityOf("other"), pidns: "pid:[1]" })}\n`);
  await expect(session.append(user("not"))).rejects.toMatchObject({
    code: "lock_timeout",
    details: { holder: expect.stringContaining("pid:[1]") },
  });
  expect(await texts(sessions)).toEqual(["reclaimed"]);
});

test.each(["kernel", "create"])(
  "B055 nobody waits for a turn that is thinking: the lock is held while bytes are written (%s)",
  async (mode) => {
    await using directory = await testDirectory();
    await using sessions = await open(directory.path, mode);
    await using session = await sessions.open(KEY);
    const claim = await session.claimTurn("asks a slow provider", 600_000);
    expect(claim.kind).toBe("claimed");
    await session.append(user("a message meanwhile"));
    await using other = await open(directory.path, mode);
    await using same = await other.open(KEY);
    await same.append(user("and one from another process"));
    await session.append({ type: "usage", tokens: 1 } as never);
    expect(await texts(other)).toEqual(["a message meanwhile", "and one from another process"]);
  },
);

test.each(["kernel", "create"])(
  "B057 whatever fails under the lock gives it back; nothing is held when nothing runs (%s)",
  async (mode) => {
    await using directory = await testDirectory();
    await using sessions = await open(directory.path, mode);
    await using session = await sessions.open(KEY);
    await session.append({ ...user("kept"), id: "kept" });
    const broken = { type: "compaction", summary: "s", firstKeptEntryId: "nobody", tokensBefore: 1 } as const;
    await expect(session.append(broken)).rejects.toMatchObject({ code: "bad_entry" });
    await expect(session.branch("nobody")).rejects.toMatchObject({ code: "entry_missing" });
    const stuck = join(directory.path, "dir.jsonl");
    await mkdir(stuck);
    await expect(openTranscript(stuck)).rejects.toMatchObject({ code: "not_a_file" });
    await using other = await open(directory.path, mode);
    await other.update(KEY, { label: "x" });
    expect((await readdir(directory.path)).filter((name) => name.endsWith(".held"))).toEqual([]);
    expect(await texts(other)).toEqual(["kept"]);
  },
);

test("B062 every lock lies in the directory that it protects; two directories never wait for each other", async () => {
  await using directory = await testDirectory();
  await using elsewhere = await testDirectory();
  const [one, two] = [join(directory.path, "one"), join(directory.path, "two")];
  const before = process.env.TMPDIR;
  process.env.TMPDIR = elsewhere.path;
  try {
    await using a = await open(one, "create");
    await using b = await open(two, "create");
    await using inA = await a.open(KEY);
    await using inB = await b.open(KEY);
    await writeFile(`${inA.file}.held`, `${JSON.stringify(identityOf("alive"))}\n`);
    await inB.append(user("free"));
    expect(await readdir(elsewhere.path)).toEqual([]);
    expect((await readdir(directory.path)).toSorted()).toEqual(["one", "two"]);
  } finally {
    process.env.TMPDIR = before;
    if (before === undefined) delete process.env.TMPDIR;
  }
});
