/** `holdfast transcript append`: what is acknowledged is on disk, and a bad line costs nothing before it. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { firstLine, runCli, startCli, temporaryDirectory } from "../support/cli.ts";

function line(text: string): string {
  return `${JSON.stringify({ type: "message", message: { role: "user", content: text } })}\n`;
}

async function entriesOf(file: string): Promise<readonly Record<string, unknown>[]> {
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  return lines.map((text) => JSON.parse(text)).filter((entry) => entry.type !== "session");
}

function acknowledged(stdout: string): readonly { id: string; parentId: string | null; durable: boolean }[] {
  return stdout
    .split("\n")
    .filter((text) => text !== "")
    .map((text) => JSON.parse(text));
}

test("each line is acknowledged with its id and parent, in order; blank lines are nothing", async () => {
  await using directory = await temporaryDirectory();
  const file = join(directory.path, "t.jsonl");
  const texts = Array.from({ length: 600 }, (_, index) => `${index} 待办`);
  const ran = await runCli(["transcript", "append", file], { stdin: `\n${texts.map(line).join("\n")}` });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  const acks = acknowledged(ran.stdout);
  const entries = await entriesOf(file);
  expect(entries.map((entry) => (entry.message as { content: string }).content)).toEqual(texts);
  expect(acks).toEqual(entries.map(({ id, parentId }) => ({ id, parentId, durable: true })));
  expect(entries.map((entry) => entry.parentId)).toEqual([null, ...entries.map((entry) => entry.id).slice(0, -1)]);
});

test("the second call goes on at the leaf of the first", async () => {
  await using directory = await temporaryDirectory();
  const file = join(directory.path, "t.jsonl");
  const [first] = acknowledged((await runCli(["transcript", "append", file], { stdin: line("a") })).stdout);
  const [second] = acknowledged((await runCli(["transcript", "append", file], { stdin: line("b").trimEnd() })).stdout);
  expect(second?.parentId).toBe(first?.id);
});

describe("a bad line is exit 2 and named; what came before it is kept, what comes after is not written", () => {
  test.each([
    ["{broken", /Line 3 .*not JSON/],
    ["[1]", /Line 3 .*not a JSON object/],
    ['{"message":{}}', /Line 3 .*no "type"/],
    ['{"type":"custom","customType":"x","id":"mine"}', /Line 3 .*gives id/],
    ['{"type":"custom","customType":"x","parentId":null}', /Line 3 .*gives parentId/],
    ['{"type":"custom","customType":"x","g":7}', /Line 3 .*cannot be stored/],
  ])("%s", async (bad, says) => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "t.jsonl");
    const ran = await runCli(["transcript", "append", file], { stdin: `${line("a")}${line("b")}${bad}\n${line("c")}` });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toMatch(says);
    expect(acknowledged(ran.stdout)).toHaveLength(2);
    expect(await entriesOf(file)).toHaveLength(2);
  });
});

test("an acknowledgement comes before the input ends: one may wait for it", async () => {
  await using directory = await temporaryDirectory();
  const file = join(directory.path, "t.jsonl");
  const child = startCli(["transcript", "append", file]);
  child.stdin.write(line("a"));
  const ack = JSON.parse(await firstLine(child));
  expect(await entriesOf(file)).toMatchObject([{ id: ack.id }]);
  child.kill("SIGKILL");
});

test("killed at any moment, every acknowledged entry is in the file, once", async () => {
  await using directory = await temporaryDirectory();
  for (let round = 0; round < 5; round++) {
    const file = join(directory.path, `t${round}.jsonl`);
    const child = startCli(["transcript", "append", file]);
    child.stdin.on("error", () => {});
    const printed: string[] = [];
    const feeding = (async () => {
      for (let index = 0; child.exitCode === null && !child.killed; index++) {
        child.stdin.write(line(`entry ${index}`));
        await sleep(1);
      }
    })();
    for await (const chunk of child.stdout.setEncoding("utf8")) {
      printed.push(chunk);
      if (printed.join("").split("\n").length > 5 * (round + 1)) child.kill("SIGKILL");
    }
    await feeding;
    const whole = printed.join("").split("\n").slice(0, -1);
    const text = await readFile(file, "utf8");
    const ids = text.split("\n").flatMap((each) => /"id":"([0-9a-f]{16})"/.exec(each)?.[1] ?? []);
    expect(whole.length).toBeGreaterThan(5 * (round + 1) - 1);
    for (const { id } of whole.map((each) => JSON.parse(each))) expect(ids.filter((each) => each === id)).toEqual([id]);
  }
});

test("acknowledgements that nobody reads stop the work", async () => {
  await using directory = await temporaryDirectory();
  const file = join(directory.path, "t.jsonl");
  const child = startCli(["transcript", "append", file]);
  child.stdin.on("error", () => {});
  child.stdout.destroy();
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const feeding = new AbortController();
  void (async () => {
    while (!feeding.signal.aborted) {
      child.stdin.write(line("x"));
      await sleep(5);
    }
  })();
  expect(await ended).toBe(1);
  feeding.abort();
});

test("a directory, and a file in another format version, are refused untouched", async () => {
  await using directory = await temporaryDirectory();
  expect((await runCli(["transcript", "append", directory.path], { stdin: line("a") })).code).toBe(2);
  const old = join(directory.path, "old.jsonl");
  const text = `${JSON.stringify({ type: "session", id: "s", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/" })}\n${JSON.stringify({ type: "message", timestamp: "2025-01-01T00:00:00.000Z", message: { role: "user", content: "a" } })}\n`;
  await writeFile(old, text);
  const ran = await runCli(["transcript", "append", old, "--json"], { stdin: line("a") });
  expect(JSON.parse(ran.stdout).error.code).toBe("read_only_version");
  expect(ran.code).toBe(1);
  expect(await readFile(old, "utf8")).toBe(text);
});
