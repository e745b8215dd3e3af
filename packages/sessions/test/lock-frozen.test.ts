/**
 * A real process that is frozen (SIGSTOP) while it holds something, loses it to another host, and wakes.
 * Facts come from outside: what it printed, the lines of the file, what Pi 1.6.0 reads from a copy.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "@holdfast/base";
import { openTranscript } from "@holdfast/sessions";
import { verifyTranscript } from "@holdfast/sessions/internal";
import { describe, test } from "vitest";
import { testDirectory } from "./support/directories.ts";
import { piContext } from "./support/pi.ts";
import { run } from "./support/process.ts";

const user = (id: string) => ({ type: "message" as const, id, message: { role: "user" as const, content: id } });

/** Long enough for a commit of our own in half of it, on a busy machine. */
const STALE_MS = 1500;

/** The lock says now that a process of another machine holds it. */
async function disguise(file: string): Promise<void> {
  const held = `${file}.held`;
  const identity: unknown = JSON.parse((await readFile(held, "utf8")).split("\n", 1)[0] ?? "");
  if (!isObject(identity)) throw new TypeError("the lock names nobody");
  await writeFile(held, `${JSON.stringify({ ...identity, boot: "another boot", host: "another host" })}\n`);
}

const contents = async (file: string): Promise<unknown[]> =>
  (await piContext(file)).messages.map((message) => (isObject(message) ? message.content : null));

async function idsOf(file: string): Promise<string[]> {
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  return lines.map((line) => String((JSON.parse(line) as { id?: unknown }).id));
}

describe.concurrent.each([
  ["before it looks whether the lock is still its own", "lock:before-check", false],
  ["between that look and its write", "transcript:before-write", true],
])("mode create: frozen %s", (_, point, isWritten) => {
  test("its late line is refused or stale, never the leaf: for us, and after the next append for Pi", async ({
    expect,
  }) => {
    await using directory = await testDirectory();
    const file = join(directory.path, "t.jsonl");
    await (await openTranscript(file, { create: true, writeLock: { mode: "create" } })).close();
    await using frozen = run("./writer.ts", [file, "create", "f", "0", "2", point]);
    await frozen.line((line) => line === "ack f0");
    await frozen.stopped();
    await disguise(file);

    const writeLock = { mode: "create", staleMs: STALE_MS } as const;
    await using session = await openTranscript(file, { writeLock });
    const appended = await session.append(user("b0"));
    expect(appended.change).toBe("harmless");

    frozen.kill("SIGCONT");
    expect((await frozen.ended).code, frozen.stderr()).toBe(0);
    expect(frozen.lines).toContain("refused stale_fence");
    expect((await idsOf(file)).includes("f1")).toBe(isWritten);
    expect(await readdir(`${file}.held.reclaim`)).toEqual([]);

    const report = await verifyTranscript(file);
    expect(report.stale.map(({ id }) => id)).toEqual(isWritten ? ["f1"] : []);
    expect(report.leaf).toBe(appended.entries[0]?.id);
    await using again = await openTranscript(file);
    expect(again.leaf()).toBe("b0");
    expect(await again.entry("f1")).toBeUndefined();

    // Written again under the same id it is an entry like any other, and Pi agrees with us.
    expect((await session.append(user("f1"))).entries[0]?.parentId).not.toBe(null);
    expect(session.path().flatMap(({ id, type }) => (type === "message" ? [id] : []))).toEqual(["f0", "b0", "f1"]);
    expect(await contents(file)).toEqual(["f0", "b0", "f1"]);
    await using later = await openTranscript(file);
    expect(later.path().flatMap(({ id, type }) => (type === "message" ? [id] : []))).toEqual(["f0", "b0", "f1"]);
    expect((await later.context()).messages.map(({ content }) => content)).toEqual(["f0", "b0", "f1"]);
  }, 20_000);
});

test.concurrent("mode create: frozen before it had caught up, it catches up with what came meanwhile and writes on", async ({
  expect,
}) => {
  await using directory = await testDirectory();
  const file = join(directory.path, "t.jsonl");
  await (await openTranscript(file, { create: true, writeLock: { mode: "create" } })).close();
  await using frozen = run("./writer.ts", [file, "create", "f", "0", "2", "lock:after-take"]);
  await frozen.line((line) => line === "ack f0");
  await frozen.stopped();
  await disguise(file);
  await using session = await openTranscript(file, { writeLock: { staleMs: STALE_MS } });
  await session.append(user("b0"));
  frozen.kill("SIGCONT");
  await frozen.ended;
  expect(frozen.lines).toEqual(["start", "ack f0", "ack f1"]);
  expect((await verifyTranscript(file)).stale).toEqual([]);
  expect(await contents(file)).toEqual(["f0", "b0", "f1"]);
}, 20_000);
