/**
 * Large files: the context equals Pi's and is reached without reading the file. 20 MB by default; with HOLDFAST_LARGE=1
 * 200 MB. Slow on purpose: Pi reads everything.
 */
import { deepStrictEqual } from "node:assert/strict";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { expect, test } from "vitest";
import type { Entry } from "../../src/entry.ts";
import { openSource } from "../../src/reading/source.ts";
import { readTail } from "../../src/reading/tail.ts";
import { contextOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import { answer, call, compaction, HEADER, make, result, tempDir, user } from "../support/make.ts";
import { piContext } from "../support/pi.ts";

const MEGABYTES = process.env.HOLDFAST_LARGE === "1" ? 200 : 20;

/** Turns of four entries, a compaction every hundred turns that keeps ten, side branches now and then. */
function* history(bytes: number): Generator<Entry> {
  yield make("thinking_level_change", "th", null, { thinkingLevel: "medium" });
  let leaf = "th";
  let written = 0;
  for (let turn = 0; written < bytes; turn++) {
    const [u, c, r, a] = ["u", "c", "r", "a"].map((kind) => `${kind}${turn}`) as [string, string, string, string];
    const entries = [
      user(u, leaf, "问题".repeat(60)),
      call(c, u, [`t${turn}`]),
      result(r, c, `t${turn}`),
      answer(a, r, "answer ".repeat(300)),
    ];
    if (turn % 5 === 0)
      entries.push(
        answer(`side${turn}`, u, "another answer ".repeat(50)),
        make("label", `l${turn}`, a, { targetId: a, label: "x" }),
      );
    leaf = entries.at(-1)?.id ?? a;
    if (turn % 100 === 99) {
      entries.push(compaction(`k${turn}`, leaf, `u${turn - 10}`));
      leaf = `k${turn}`;
    }
    for (const entry of entries) {
      written += JSON.stringify(entry).length;
      yield entry;
    }
  }
}

async function writeHistory(path: string): Promise<void> {
  const stream = createWriteStream(path);
  const write = async (line: unknown) => {
    if (!stream.write(`${JSON.stringify(line)}\n`)) await once(stream, "drain");
  };
  await write(HEADER);
  for (const entry of history(MEGABYTES * 1e6)) await write(entry);
  stream.end();
  await finished(stream);
}

test(`${MEGABYTES} MB: Pi's context, from a small part of the file`, { timeout: 300_000 }, async () => {
  await using directory = await tempDir();
  const path = join(directory.path, "large.jsonl");
  await writeHistory(path);
  const { size } = await stat(path);
  expect(size).toBeGreaterThan(MEGABYTES * 0.9e6);

  await using source = await openSource(path);
  let bytes = 0;
  const read = (offset: number, length: number) => {
    bytes += length;
    return source.read(offset, length);
  };
  await readTail({ size: source.size, read });
  expect(bytes).toBeLessThan(2_000_000);

  const { messages, model, thinkingLevel } = await contextOfTranscript(path);
  deepStrictEqual({ messages, thinkingLevel, model }, await piContext(path));
  expect(thinkingLevel).toBe("medium");
  expect(await verifyTranscript(path)).toMatchObject({ ok: true, openCalls: [] });
});

test("2,000 branches", async () => {
  await using directory = await tempDir();
  const trunk = [user("u0", null, "start"), answer("a0", "u0", "begin")];
  const branches = Array.from({ length: 2000 }, (_, index) => [
    user(`u${index + 1}`, index % 3 === 0 ? "a0" : `a${index}`, `branch ${index}`),
    answer(`a${index + 1}`, `u${index + 1}`, "text ".repeat(100)),
  ]).flat();
  const path = await directory.write(
    "a.jsonl",
    [HEADER, ...trunk, ...branches].map((line) => `${JSON.stringify(line)}\n`).join(""),
  );
  for (const leaf of [undefined, "a1", "a1000", "a1999"]) {
    const { messages, model, thinkingLevel } = await contextOfTranscript(path, leaf === undefined ? {} : { leaf });
    deepStrictEqual({ messages, thinkingLevel, model }, await piContext(path, leaf));
  }
});
