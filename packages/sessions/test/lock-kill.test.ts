/**
 * Real writers on one transcript, killed again and again, under both kinds of lock. Facts come from outside: what the
 * killed had printed, what the file holds, what Pi 1.6.0 reads from a copy.
 * `HOLDFAST_LARGE=1` kills 500 times in all.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Entry, openTranscript } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { testDirectory } from "./support/directories.ts";
import { piContext } from "./support/pi.ts";
import { type Running, run } from "./support/process.ts";

const KILLS = process.env.HOLDFAST_LARGE === "1" ? 250 : 5;

const acksOf = ({ lines }: Running): string[] =>
  lines.filter((line) => line.startsWith("ack ")).map((line) => line.slice(4));

/** After a random number of acknowledgements, so that both are in the middle of something. */
async function killSoon(writer: Running, round: number): Promise<string[]> {
  const after = 1 + ((round * 7) % 5);
  await writer.line(() => writer.lines.length > after);
  writer.kill("SIGKILL");
  await writer.ended;
  return acksOf(writer);
}

test.each(["kernel", "create"] as const)(
  "%s: whoever is killed, nothing acknowledged is missing, nothing is twice",
  async (mode) => {
    await using directory = await testDirectory();
    const file = join(directory.path, "t.jsonl");
    const writeLock = mode === "create" ? { mode } : {};
    await (await openTranscript(file, { create: true, writeLock })).close();
    const acks: string[] = [];
    const begin = (round: number): Running => run("./writer.ts", [file, mode, `p${round}-`, "0", "100000"]);
    // Two write, the third begins: to start a process takes longer than everything else here.
    const writers = [begin(0), begin(1)];
    for (let round = 2; round < KILLS + 2; round++) {
      writers.push(begin(round));
      await writers[1]?.line((line) => line.startsWith("ack "));
      const oldest = writers.shift();
      if (oldest !== undefined) acks.push(...(await killSoon(oldest, round)));
    }
    for (const writer of writers) acks.push(...(await killSoon(writer, 0)));
    await using session = await openTranscript(file);
    await session.append({ type: "message", id: "after", message: { role: "user", content: "after" } });
    await check(file, [...acks, "after"]);
    const said = (entries: readonly Entry[]): number => entries.filter(({ type }) => type === "message").length;
    expect(said(session.path())).toBe(said(await session.since(null)));
  },
  600_000,
);

async function check(file: string, acks: readonly string[]): Promise<void> {
  const lines = (await readFile(file, "utf8")).split("\n").filter((line) => line.includes('"type":"message"'));
  const ids = lines.flatMap((line) => /^\{"type":"message","id":"([^"]+)"/.exec(line)?.[1] ?? []);
  expect(ids).toHaveLength(new Set(ids).size);
  const there = new Set(ids);
  expect(acks.filter((id) => !there.has(id))).toEqual([]);
  const { messages } = await piContext(file);
  expect(messages.map((message) => (message as { content: string }).content)).toEqual(ids);
  expect(acks.length).toBeGreaterThan(KILLS);
}
