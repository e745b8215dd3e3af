/**
 * Real processes, really killed: at every named point of opening and appending, and at random moments.
 * Facts come from outside: what the killed process had printed, what the file holds, what Pi reads from a copy.
 */
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { openSessions, type SessionRow } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { runChild } from "./support/child.ts";
import { type TestDirectory, testDirectory } from "./support/directories.ts";

const KEY = "agent:main:main";

function acknowledged(lines: readonly string[]): number[] {
  return lines.filter((line) => line.startsWith("ack ")).map((line) => Number(line.slice(4)));
}

/** Opens what was left, writes on, and checks that nothing acknowledged is missing and nothing is there twice. */
async function checkLeft(directory: TestDirectory, acks: readonly number[], sessionId: string | undefined) {
  await using sessions = await openSessions({ directory: directory.path, onProblem: unexpected });
  await using session = await sessions.open(KEY);
  if (sessionId !== undefined) expect(session.id).toBe(sessionId);
  await session.append({ type: "message", id: "after", message: { role: "user", content: "after" } });
  const ids = (await session.since(null)).map(({ id }) => id);
  expect(ids).toHaveLength(new Set(ids).size);
  for (const n of acks) expect(ids, `acknowledged e-${n}`).toContain(`e-${n}`);
  const numbered = ids.filter((id) => id.startsWith("e-")).map((id) => Number(id.slice(2)));
  expect(numbered).toEqual(numbered.toSorted((a, b) => a - b));
  const row: SessionRow | undefined = await sessions.get(KEY);
  for (const n of acks) if (n % 3 === 0) expect(row?.[`e-${n}`], `row field of e-${n}`).toBe(n);
  const mine = (await session.context()).messages;
  expect(mine).toHaveLength(numbered.length + 1);
  await checkWithPi(directory, session.file ?? "", JSON.stringify(mine));
}

function unexpected(problem: unknown): never {
  throw new Error(`a kill caused a problem: ${JSON.stringify(problem)}`);
}

/** On a copy: Pi writes to files it opens. */
async function checkWithPi(directory: TestDirectory, file: string, mine: string): Promise<void> {
  const copy = join(directory.path, "copy-for-pi.txt");
  await copyFile(file, copy);
  expect(JSON.stringify(SessionManager.open(copy).buildSessionContext().messages)).toBe(mine);
}

test("killed at every point of opening, appending and updating: nothing acknowledged is missing, nothing twice", async () => {
  let points = 0;
  for (let n = 1; ; n++) {
    await using directory = await testDirectory();
    const env = { HOLDFAST_FAULT: `kill@${n}` };
    const ended = await runChild("./appender.ts", [directory.path, KEY, "0", "1"], { env });
    const id = ended.lines.find((line) => line.startsWith("session "))?.slice(8);
    await checkLeft(directory, acknowledged(ended.lines), id);
    if (ended.signal === null) {
      expect(ended.code, ended.stderr).toBe(0);
      break;
    }
    points += 1;
  }
  // Row before the transcript, transcript, entry, row, and each step of the fold at the end.
  expect(points).toBeGreaterThanOrEqual(12);
}, 60_000);

test("killed at random moments, several times in a row, always going on where it was", async () => {
  await using directory = await testDirectory();
  const acks: number[] = [];
  for (const after of [3, 41, 17]) {
    const first = (acks.at(-1) ?? -1) + 1;
    const ended = await runChild("./appender.ts", [directory.path, KEY, String(first), "1000"], {
      onLine: (line, kill) => {
        if (line === `ack ${first + after}`) kill();
      },
    });
    expect(ended.signal).toBe("SIGKILL");
    acks.push(...acknowledged(ended.lines));
  }
  await checkLeft(directory, acks, undefined);
}, 30_000);

test("two processes append to one session and update its row at once", async () => {
  await using directory = await testDirectory();
  const [a, b] = await Promise.all(
    ["a", "b"].map((name) => runChild("./appender.ts", [directory.path, KEY, "0", "60", name])),
  );
  expect([a?.code, b?.code, a?.stderr, b?.stderr]).toEqual([0, 0, "", ""]);
  await using sessions = await openSessions({ directory: directory.path });
  await using session = await sessions.open(KEY);
  const entries = await session.since(null);
  const path = session.path().map(({ id }) => id);
  for (const name of ["a", "b"]) {
    const expected = Array.from({ length: 60 }, (_, n) => `${name}-${n}`);
    expect(path.filter((id) => id.startsWith(`${name}-`))).toEqual(expected);
    for (let n = 0; n < 60; n += 3) expect((await sessions.get(KEY))?.[`${name}-${n}`]).toBe(n);
  }
  expect(entries).toHaveLength(121);
  const generations = entries.map(({ g }) => Number(g));
  expect(generations).toEqual(generations.toSorted((x, y) => x - y));
  const text = await readFile(session.file ?? "", "utf8");
  expect(
    text
      .trimEnd()
      .split("\n")
      .every((line) => JSON.parse(line)),
  ).toBe(true);
}, 30_000);

test("Pi continues on the branch that was chosen", async () => {
  await using directory = await testDirectory();
  await using sessions = await openSessions({ directory: directory.path });
  await using session = await sessions.open(KEY);
  const say = async (content: string) =>
    (await session.append({ type: "message", message: { role: "user", content } })).entries[0]?.id ?? "";
  const one = await say("one");
  await say("two");
  await session.branch(one);
  const copy = join(directory.path, "copy-for-pi.txt");
  await copyFile(session.file ?? "", copy);
  const pi = SessionManager.open(copy);
  pi.appendMessage({ role: "user", content: "three", timestamp: 0 });
  const contents = pi.buildSessionContext().messages.map((message) => ("content" in message ? message.content : null));
  expect(contents).toEqual(["one", "three"]);
});
