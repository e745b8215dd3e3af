/** Disks that are full, small or read-only: a typed error, nothing acknowledged, nothing lost, and on it goes when mended. */
import { execFileSync } from "node:child_process";
import { chmod, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSessions, openTranscript, type Sessions } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { runChild } from "./support/child.ts";
import { testDirectory } from "./support/directories.ts";
import { user } from "./support/entries.ts";

const KEY = "agent:main:main";
const big = (n: number) => user("x".repeat(n));

/** Whether this machine lets us mount a small file system; without it the file size limit must do. */
function tryMount(path: string): boolean {
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

async function texts(sessions: Sessions): Promise<unknown[]> {
  await using session = await sessions.open(KEY);
  return (await session.context()).messages.map(({ content }) => content);
}

describe("a full disk", () => {
  test("an append fails typed; with room again the same entry is written once", async (context) => {
    await using directory = await testDirectory();
    const small = join(directory.path, "small");
    await mkdir(small);
    if (!tryMount(small)) return context.skip();
    try {
      await using sessions = await openSessions({ directory: small, onProblem: () => {} });
      await using session = await sessions.open(KEY);
      await session.append(user("kept"));
      await writeFile(join(small, "ballast"), Buffer.alloc(100 * 1024));
      const entry = { ...big(200 * 1024), id: "big" };
      await expect(session.append(entry)).rejects.toMatchObject({
        code: "write_failed",
        details: { errno: expect.anything() },
      });
      await rm(join(small, "ballast"));
      // What the short write left has to be taken in before anything is written on top of it.
      await session.append(user("after"));
      expect(await texts(sessions)).toEqual(["kept", "after"]);
      await using again = await openSessions({ directory: small, onProblem: () => {} });
      expect(await texts(again)).toEqual(["kept", "after"]);
    } finally {
      execFileSync("umount", [small]);
    }
  });

  test("a file size limit: what was acknowledged is there, what was not is not, and the next append goes on", async () => {
    await using directory = await testDirectory();
    const program = "./limited.ts";
    const ended = await runChild(program, [directory.path, KEY]);
    expect(ended.lines.at(-1), ended.stderr).toBe("write_failed");
    const acks = ended.lines.filter((line) => line.startsWith("ack ")).length;
    expect(acks).toBeGreaterThan(0);
    await using sessions = await openSessions({ directory: directory.path });
    await using session = await sessions.open(KEY);
    await session.append(user("after"));
    const all = await texts(sessions);
    expect(all).toHaveLength(acks + 1);
    expect(all.at(-1)).toBe("after");
  });
});

describe("no permission, wrong kind", () => {
  test("a directory that is a file is a typed error", async () => {
    await using directory = await testDirectory();
    const path = join(directory.path, "file");
    await writeFile(path, "");
    await expect(openSessions({ directory: path })).rejects.toMatchObject({ code: "write_failed" });
    expect(await readFile(path, "utf8")).toBe("");
  });

  test("a directory where the transcript should be is a typed error", async () => {
    await using directory = await testDirectory();
    await using sessions = await openSessions({ directory: directory.path, onProblem: () => {} });
    const first = await sessions.open(KEY);
    const file = first.file ?? "";
    await first.close();
    await rm(file);
    await mkdir(file);
    await expect(sessions.open(KEY)).rejects.toMatchObject({ code: "not_a_file" });
  });

  test("a read-only directory: what is there can be read, what is written is a typed error", async (context) => {
    await using directory = await testDirectory();
    const path = join(directory.path, "sessions");
    {
      await using sessions = await openSessions({ directory: path });
      await using session = await sessions.open(KEY);
      await session.append(user("kept"));
    }
    if (!tryReadOnly(path)) return context.skip();
    try {
      await using sessions = await openSessions({ directory: path, onProblem: () => {} });
      await using session = await sessions.open(KEY);
      expect((await session.context()).messages).toHaveLength(1);
      await expect(session.append(user("x"))).rejects.toMatchObject({ code: "write_failed" });
      await expect(sessions.update(KEY, { label: "x" })).rejects.toMatchObject({ code: "write_failed" });
      await expect(sessions.open("agent:main:other")).rejects.toMatchObject({ code: "write_failed" });
    } finally {
      execFileSync("umount", [path]);
    }
  });

  test("a bare transcript: missing, a directory, an old version", async () => {
    await using directory = await testDirectory();
    const path = join(directory.path, "t.jsonl");
    await expect(openTranscript(path)).rejects.toMatchObject({ code: "file_missing" });
    await expect(openTranscript(directory.path)).rejects.toMatchObject({ code: "not_a_file" });
    const old = `{"type":"session","id":"x","timestamp":"2025-01-01T00:00:00.000Z"}\n{"type":"message","timestamp":"2025-01-01T00:00:00.000Z","message":{"role":"user","content":"hi"}}\n`;
    await writeFile(path, old);
    await using session = await openTranscript(path);
    expect((await session.context()).messages).toHaveLength(1);
    await expect(session.append(user("x"))).rejects.toMatchObject({ code: "read_only_version" });
    expect(await readFile(path, "utf8")).toBe(old);
    await chmod(path, 0o600);
  });
});

/** Root may write anywhere, so permissions prove nothing: the mount itself is read-only. */
function tryReadOnly(path: string): boolean {
  try {
    execFileSync("mount", ["--bind", path, path], { stdio: "ignore" });
    execFileSync("mount", ["-o", "remount,bind,ro", path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}
