/**
 * Real processes, killed at every named point of archive, restore, clear, reset and fork: afterwards the key has the old
 * state or the new one, everything that was said is whole somewhere, and a cleanup leaves nothing half done.
 */
import { cp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { openSessions, type Sessions, type SessionsProblem } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { runChild } from "../support/child.ts";
import { testDirectory } from "../support/directories.ts";
import { answer, user } from "../support/entries.ts";

const KEY = "agent:main:main";
/** Every point takes minutes on a small machine: usually every fourth of four acts, another one for each. */
const IS_LARGE = process.env.HOLDFAST_LARGE === "1";
const STRIDE = IS_LARGE ? 1 : 9;
const OFF = { maxAgeMs: null, maxBytes: null, backgroundMax: null };
const SAID = ["q1", "a1", "q2", "a2"];

async function begin(directory: string, archived: boolean): Promise<string> {
  await using sessions = await openSessions({ directory });
  await using session = await sessions.open(KEY);
  await session.append([
    { ...user("one"), id: "q1" },
    { ...answer("two"), id: "a1" },
  ]);
  await session.append([
    { ...user("three"), id: "q2" },
    { ...answer("four"), id: "a2" },
  ]);
  await sessions.update(KEY, { status: "done" });
  if (archived) await sessions.keep.archive(KEY);
  return session.id;
}

/** Ids of what was said, in the one transcript of this session, wherever it is: one copy, whole. */
async function saidOf(directory: string, id: string): Promise<readonly string[]> {
  const texts: string[] = [];
  for (const name of await readdir(directory, { recursive: true })) {
    if (!name.includes(id) || !/\.jsonl(\.gz)?$/.test(name)) continue;
    const bytes = await readFile(join(directory, name));
    texts.push(String(name.endsWith(".gz") ? gunzipSync(bytes) : bytes));
  }
  const unique = new Set(texts);
  // While it is packed both are there, with the same content.
  expect(unique.size, "copies that differ").toBe(1);
  const lines = [...unique].join("").trimEnd().split("\n");
  return lines.map((line): string => JSON.parse(line).id).filter((one) => SAID.includes(one));
}

/** What a person would find: the conversation of the key, opened. */
async function whatTheKeyHas(sessions: Sessions): Promise<{ readonly id: string; readonly said: readonly string[] }> {
  await using session = await sessions.open(KEY);
  await session.append({ ...user("after"), id: "after" });
  const said = (await session.context()).entryIds;
  expect(said.at(-1)).toBe("after");
  return { id: session.id, said: said.slice(0, -1) };
}

interface Act {
  readonly name: string;
  readonly archived: boolean;
  /** Whether the key ends up with another conversation. */
  readonly ends: boolean;
  readonly pointsMin: number;
  readonly usual: boolean;
}

const ACTS: readonly Act[] = [
  { name: "archive", archived: false, ends: false, pointsMin: 8, usual: true },
  { name: "restore", archived: true, ends: false, pointsMin: 6, usual: false },
  { name: "open", archived: true, ends: false, pointsMin: 6, usual: false },
  { name: "clear", archived: false, ends: true, pointsMin: 8, usual: false },
  { name: "clear", archived: true, ends: true, pointsMin: 8, usual: true },
  { name: "reset", archived: false, ends: true, pointsMin: 10, usual: false },
  { name: "reset", archived: true, ends: true, pointsMin: 10, usual: false },
];

describe("killed at every point", () => {
  test.each(IS_LARGE ? ACTS : ACTS.filter(({ usual }) => usual))(
    "of $name (archived before: $archived)",
    async ({ name, archived, ends, pointsMin }) => {
      await using template = await testDirectory();
      const id = await begin(template.path, archived);
      let points = 0;
      for (let n = 1; ; n++) {
        await using directory = await testDirectory();
        await cp(template.path, directory.path, { recursive: true });
        const ended = await runChild("./keeper.ts", [directory.path, name, KEY], {
          env: { HOLDFAST_FAULT: `kill@${n}` },
        });
        expect(await saidOf(directory.path, id), `said, killed at ${n}`).toEqual(SAID);
        const problems: SessionsProblem[] = [];
        await using sessions = await openSessions({
          directory: directory.path,
          onProblem: (one) => void problems.push(one),
        });
        if (Math.floor(n / STRIDE) % 2 === 0) await sessions.keep.cleanup(OFF);
        const has = await whatTheKeyHas(sessions);
        if (has.id === id) expect(has.said, `killed at ${n}`).toEqual(SAID);
        else expect([ends, has.said], `killed at ${n}`).toEqual([true, []]);
        await sessions.keep.cleanup(OFF);
        expect((await sessions.keep.cleanup(OFF)).finished, `left to do, killed at ${n}`).toEqual([]);
        expect((await sessions.list()).map(({ row }) => row.leaving)).toEqual([undefined]);
        expect(await saidOf(directory.path, id)).toEqual(SAID);
        expect(problems, `killed at ${n}`).toEqual([]);
        if (ended.signal !== null) {
          points += 1;
          continue;
        }
        expect([ended.code, ended.stderr, ended.lines]).toEqual([0, "", ["done"]]);
        if (ends) expect(has.id).not.toBe(id);
        break;
      }
      expect(points * STRIDE).toBeGreaterThanOrEqual(pointsMin - STRIDE);
    },
    60_000,
  );

  test("of fork: the copy is there whole, or its key is free and the fork can be made again", async () => {
    await using template = await testDirectory();
    await begin(template.path, false);
    for (let n = 1; ; n += STRIDE) {
      await using directory = await testDirectory();
      await cp(template.path, directory.path, { recursive: true });
      const ended = await runChild("./keeper.ts", [directory.path, "fork", KEY], {
        env: { HOLDFAST_FAULT: `kill@${n}` },
      });
      await using sessions = await openSessions({ directory: directory.path });
      if ((await sessions.get(`${KEY}:copy`)) === undefined) await sessions.keep.fork(KEY, `${KEY}:copy`);
      await using copy = await sessions.open(`${KEY}:copy`);
      expect((await copy.context()).entryIds).toEqual(SAID);
      expect((await whatTheKeyHas(sessions)).said).toEqual(SAID);
      if (ended.signal === null) break;
    }
  }, 60_000);
});
