/** Older versions and layouts as version 3: Pi sees what it saw before, and the old file stays. */
import { copyFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openTranscript } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { convertTranscript } from "../../src/keeping/convert.ts";
import { contextOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import { answer, fileOf, HEADER, message, tempDir, user } from "../support/make.ts";
import { piContext } from "../support/pi.ts";

const fixture = (name: string) => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

test.each(["real-pi-v1-with-compactions.jsonl", "entries-without-ids.jsonl"])(
  "%s: Pi sees in the new file what we see in the old one, and it can be written on",
  async (name) => {
    await using dir = await tempDir();
    const file = join(dir.path, name);
    await copyFile(fixture(name), file);
    const before = await readFile(file);
    const { repaired, changes } = await convertTranscript(file);
    const converted = repaired ?? "";
    expect(changes.length).toBeGreaterThan(0);
    expect(await verifyTranscript(converted)).toMatchObject({ ok: true, header: { version: 3 } });
    const { messages, model, thinkingLevel } = await contextOfTranscript(file);
    expect(await piContext(converted)).toEqual({ messages, model, thinkingLevel });
    expect(await readFile(file)).toEqual(before);
    expect(JSON.parse((await readFile(converted, "utf8")).split("\n", 1)[0] ?? "")).toMatchObject({
      parentSession: file,
    });
    await using session = await openTranscript(converted);
    await session.append({ type: "custom", customType: "note", data: 1 });
  },
);

test("version 2: hook messages become custom ones, ids stay", async () => {
  await using dir = await tempDir();
  const entries = [
    user("u1", null, "one"),
    message("h1", "u1", { role: "hookMessage", customType: "c", content: "hook", display: true, timestamp: 1 }),
    answer("a1", "h1", "eins"),
  ];
  const file = await dir.write("s-1.jsonl", fileOf(entries, { ...HEADER, version: 2 }));
  const { repaired } = await convertTranscript(file);
  const { messages, entryIds } = await contextOfTranscript(repaired ?? "");
  expect(entryIds).toEqual(["u1", "h1", "a1"]);
  expect(messages[1]).toMatchObject({ role: "custom", content: "hook" });
  expect(messages).toEqual((await piContext(file)).messages);
});

test("twice gives the same file; a target of one's own is used", async () => {
  await using dir = await tempDir();
  const file = await dir.write("s-1.jsonl", fileOf([user("u1", null, "one")], { ...HEADER, version: 2 }));
  const first = await convertTranscript(file);
  expect(first.repaired).toBe(join(dir.path, "s-1.v3.jsonl"));
  expect(await convertTranscript(file)).toEqual(first);
  const target = join(dir.path, "mine.jsonl");
  expect((await convertTranscript(file, { target, id: "mine" })).repaired).toBe(target);
  expect(await readFile(target, "utf8")).toContain('"id":"mine"');
});
