/** A pipe, a device or a directory in the place of a file: refused at once, never waited for, never written into. */
import { execFileSync } from "node:child_process";
import { constants } from "node:fs";
import { mkdir, open, readdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { openSessions, openTranscript } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { importHistory } from "../../src/keeping/import.ts";
import { repairTranscript } from "../../src/keeping/repair.ts";
import { migrateOpenClaw } from "../../src/migrate/openclaw.ts";
import { contextOfTranscript, treeOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import { testDirectory } from "../support/directories.ts";
import { testPlace } from "../support/place.ts";

const KEY = "agent:main:k";
const USER = { type: "message", message: { role: "user", content: "one" } };

const PUT: Readonly<Record<string, (path: string) => unknown>> = {
  pipe: (path) => execFileSync("mkfifo", [path]),
  device: (path) => symlink("/dev/zero", path),
  directory: (path) => mkdir(path),
};

/** How an odd thing of the store is named; a directory as the system names it, for reading or for writing. */
const CODE: Readonly<Record<string, RegExp>> = {
  pipe: /^not_regular$/,
  device: /^not_regular$/,
  directory: /^(EISDIR|read_failed|write_failed)$/,
};

describe.each(Object.keys(PUT))("a %s", (kind) => {
  const put = (path: string): unknown => PUT[kind]?.(path);

  test("as a transcript: not_a_file at every door, and nothing beside it", async () => {
    await using directory = await testDirectory();
    await using place = await testPlace();
    const path = join(directory.path, "a.jsonl");
    await put(path);
    const doors: ((path: string) => Promise<unknown>)[] = [
      verifyTranscript,
      contextOfTranscript,
      treeOfTranscript,
      (file) => repairTranscript(file),
      (file) => openTranscript(file),
      (file) => importHistory(place, { file, key: KEY }),
    ];
    for (const door of doors) await expect(door(path)).rejects.toMatchObject({ code: "not_a_file" });
    expect(await readdir(directory.path)).toEqual(["a.jsonl"]);
  });

  test.each(["sessions.json", "sessions.json.bak", "sessions.journal-1.jsonl"])("as %s", async (name) => {
    await using directory = await testDirectory();
    await put(join(directory.path, name));
    await expect(listed(directory.path)).rejects.toMatchObject({ code: expect.stringMatching(CODE[kind] ?? /^$/) });
  });

  test.each([".store.json", "sessions.lock"])("as %s", async (name) => {
    await using directory = await testDirectory();
    await put(join(directory.path, name));
    await expect(said(directory.path)).rejects.toMatchObject({ code: expect.stringMatching(CODE[kind] ?? /^$/) });
  });

  test("as what another program left: told and passed over", async () => {
    await using directory = await testDirectory();
    await using place = await testPlace();
    const agent = join(directory.path, "agents", "main");
    await mkdir(join(agent, "sessions"), { recursive: true });
    await mkdir(join(agent, "agent"));
    const odd = ["sessions/sessions.json", "sessions/s1.jsonl", "agent/openclaw-agent.sqlite"];
    for (const name of odd) await put(join(agent, name));
    const report = await migrateOpenClaw({ from: directory.path, placeFor: async () => place });
    expect(report.skipped.map(({ source }) => source).toSorted()).toEqual(
      odd.map((name) => join(agent, name)).toSorted(),
    );
  });
});

test("a pipe in the place of a session's file that is open elsewhere gets not a byte", async () => {
  await using directory = await testDirectory();
  await said(directory.path);
  const file = (await readdir(directory.path)).find((name) => /^[0-9a-f].*\.jsonl$/.test(name)) ?? "";
  const path = join(directory.path, file);
  await using sessions = await openSessions({ directory: directory.path });
  const session = await sessions.open(KEY);
  execFileSync("sh", ["-c", 'mv "$1" "$1.away" && mkfifo "$1"', "sh", path]);
  await using reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  await expect(session.append(USER)).rejects.toBeInstanceOf(Error);
  expect((await reader.read(Buffer.alloc(10), 0, 10, null)).bytesRead).toBe(0);
});

async function listed(directory: string): Promise<unknown> {
  await using sessions = await openSessions({ directory });
  return await sessions.list();
}

async function said(directory: string): Promise<void> {
  await using sessions = await openSessions({ directory });
  const session = await sessions.open(KEY);
  await session.append(USER);
}
