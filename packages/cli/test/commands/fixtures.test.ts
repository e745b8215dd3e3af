/** `holdfast transcript ...` on real and old files, whole and damaged: an answer each time, and the file stays as it was. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli, temporaryDirectory } from "../support/cli.ts";

const VERBS = ["verify", "context", "tree", "repair"] as const;
const fixture = (name: string) => readFile(new URL(`../../../sessions/test/fixtures/${name}`, import.meta.url));

const WOUNDS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  whole: (bytes) => bytes,
  "torn at the end": (bytes) => bytes.subarray(0, bytes.length - 20),
  "zeroed in the middle": (bytes) => Buffer.concat([bytes.subarray(0, 300), Buffer.alloc(64), bytes.subarray(364)]),
  "without its first line": (bytes) => bytes.subarray(bytes.indexOf(10) + 1),
};
/** Each is four processes: the rest with the large counts. */
const wounds = Object.entries(WOUNDS).slice(0, process.env.HOLDFAST_LARGE === "1" ? undefined : 2);

describe.each(["entries-without-ids.jsonl", "real-pi-v1-with-compactions.jsonl"])("%s", (name) => {
  test.each(wounds)("%s: each command answers", async (_, wound) => {
    await using directory = await temporaryDirectory();
    const path = join(directory.path, "t.jsonl");
    const bytes = wound(await fixture(name));
    await writeFile(path, bytes);
    for (const verb of VERBS) {
      const { code, stdout } = await runCli(["transcript", verb, path, "--json"]);
      const answer = JSON.parse(stdout);
      const expected = verb === "verify" && answer.ok === false ? 3 : 0;
      expect([verb, code, answer.error]).toEqual([verb, expected, undefined]);
      expect((await readFile(path)).equals(bytes)).toBe(true);
    }
  });
});

test.each(VERBS)("the flat layout is no transcript, which %s says", async (verb) => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "t.jsonl");
  const bytes = await fixture("flat-telegram_123456.jsonl");
  await writeFile(path, bytes);
  const { code, stdout } = await runCli(["transcript", verb, path, "--json"]);
  expect([code, JSON.parse(stdout).error.code]).toEqual([1, "not_a_transcript"]);
  expect((await readFile(path)).equals(bytes)).toBe(true);
});
