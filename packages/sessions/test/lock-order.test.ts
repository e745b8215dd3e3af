/** Who comes when: first come first served in a process, nobody starves across processes, and turns that were slept through. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { isObject } from "@holdfast/base";
import { openTranscript, type Session } from "@holdfast/sessions";
import { verifyTranscript } from "@holdfast/sessions/internal";
import { describe, expect, test } from "vitest";
import { testDirectory } from "./support/directories.ts";
import { piContext } from "./support/pi.ts";
import { run } from "./support/process.ts";

const user = (content: string) => ({ type: "message" as const, message: { role: "user" as const, content } });

const begin = (file: string, mode: string): Promise<Session> =>
  openTranscript(file, { create: true, writeLock: mode === "create" ? { mode } : {} });

const said = (entries: readonly object[]): unknown[] =>
  entries.flatMap((entry) => ("message" in entry && isObject(entry.message) ? [entry.message.content] : []));

describe.each(["kernel", "create"])("mode %s", (mode) => {
  test("in one process appends of one object are written in the order they were asked for, and several objects take turns", async () => {
    await using directory = await testDirectory();
    const file = join(directory.path, "t.jsonl");
    await using a = await begin(file, mode);
    await using b = await openTranscript(file);
    const names = Array.from({ length: 20 }, (_, n) => n);
    await Promise.all(names.flatMap((n) => [a.append(user(`a${n}`)), b.append(user(`b${n}`))]));
    const all = said(await a.since(null)).map(String);
    for (const name of ["a", "b"]) {
      expect(all.filter((text) => text.startsWith(name))).toEqual(names.map((n) => `${name}${n}`));
    }
    await a.catchUp();
    expect(said(a.path())).toEqual(all);
  });

  test("of four processes that hammer one transcript each makes progress while the others go on", async () => {
    await using directory = await testDirectory();
    const file = join(directory.path, "t.jsonl");
    await (await begin(file, mode)).close();
    await using a = run("./writer.ts", [file, mode, "a", "0", "100000"]);
    await using b = run("./writer.ts", [file, mode, "b", "0", "100000"]);
    await using c = run("./writer.ts", [file, mode, "c", "0", "100000"]);
    await using d = run("./writer.ts", [file, mode, "d", "0", "100000"]);
    const all = [a, b, c, d];
    // Everybody is at work before anybody is counted; then each must get on while nobody has stopped.
    await Promise.all(all.map((one) => one.line((line) => line.startsWith("ack "))));
    const goals = all.map((one) => one.lines.length + 5);
    await Promise.all(all.map((one, index) => one.line(() => one.lines.length >= (goals[index] ?? 0))));
    for (const one of all) one.kill("SIGKILL");
  }, 30_000);

  test("a process that sleeps through its turn is refused when it wakes", async () => {
    await using directory = await testDirectory();
    const file = join(directory.path, "t.jsonl");
    await (await begin(file, mode)).close();
    await using frozen = run("./turn.ts", [file, mode, "1"]);
    await frozen.stopped();
    await using session = await openTranscript(file);
    const claim = await session.claimTurn("the next", 60_000);
    if (claim.kind !== "claimed") throw new Error(`held by ${claim.by}`);
    await session.append(user("next"), { right: claim.right });
    frozen.kill("SIGCONT");
    expect((await frozen.ended).code, frozen.stderr()).toBe(0);
    expect(frozen.lines).toEqual(["stale_turn"]);
    expect(said(await session.since(null))).toEqual(["before", "next"]);
  }, 10_000);

  test("Pi writes into the conversation while our turn is open: classified, and nothing is lost", async () => {
    await using directory = await testDirectory();
    const file = join(directory.path, "t.jsonl");
    await using session = await begin(file, mode);
    const claim = await session.claimTurn("us", 60_000);
    if (claim.kind !== "claimed") throw new Error(`held by ${claim.by}`);
    const { right } = claim;
    const question = await session.append(user("ours"), { right });
    const asked = question.entries[0]?.id ?? "";
    SessionManager.open(file).appendMessage({ role: "user", content: "Pi's", timestamp: 0 });
    const content = [{ type: "text" as const, text: "answer" }];
    const answer = { type: "message" as const, answers: [asked], message: { role: "assistant" as const, content } };
    const appended = await session.append(answer, { right });
    expect(appended).toMatchObject({ change: "turn", durable: true });
    SessionManager.open(file).appendSessionInfo("a name");
    expect(await session.catchUp()).toBe("harmless");

    expect(said(session.path())).toEqual(["ours", "Pi's", content]);
    expect((await verifyTranscript(file)).ok).toBe(true);
    const pi = (await piContext(file)).messages.map((message) => (isObject(message) ? message.content : null));
    expect(pi).toEqual(["ours", "Pi's", content]);
    expect((await readFile(file, "utf8")).trimEnd().split("\n")).toHaveLength(5);
  });
});
