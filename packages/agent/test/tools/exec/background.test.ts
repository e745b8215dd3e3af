/** Commands in the background: begun once, looked after across lives, ended on request. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { execTool } from "../../../src/tools/exec/exec.ts";
import { processTool } from "../../../src/tools/exec/process.ts";
import { probeTool, runTool, temporaryWorkspace } from "../../support/workspace.ts";

const [exec, process_] = [execTool(process.env), processTool()];

async function space() {
  const made = await temporaryWorkspace();
  onTestFinished(() => made[Symbol.asyncDispose]());
  // What a later life has: the same folders, nothing in memory.
  const say = (args: Record<string, string | number>) => runTool(process_, args, made.context);
  const begin = async (command: string) => {
    const begun = await runTool(exec, { command, background: true }, made.context);
    const id = String(begun.details?.process);
    onTestFinished(async () => void (await say({ action: "kill", id }).catch(() => undefined)));
    return { begun, id };
  };
  return { ...made, say, begin };
}

test("is begun at once, listed while it runs, and its end and output are found", async () => {
  const { begin, say, path } = await space();
  const { begun, id } = await begin("until [ -e go ]; do sleep 0.02; done; echo 完成");
  expect(begun).toMatchObject({ ok: true, text: expect.stringContaining(id) });
  expect((await say({ action: "list" })).text).toMatch(new RegExp(`${id} {2}running`));
  expect(await say({ action: "poll", id })).toMatchObject({ details: { state: "running" } });
  await import("node:fs/promises").then(({ writeFile }) => writeFile(join(path, "go"), ""));
  expect(await say({ action: "poll", id, waitMs: 20_000 })).toMatchObject({
    details: { state: "ended", exitCode: 0 },
    text: expect.stringContaining("完成"),
  });
  expect((await say({ action: "log", id })).text).toBe("完成");
});

test("a kill ends the whole group; killing once more changes nothing", async () => {
  const { begin, say } = await space();
  const { id } = await begin("sleep 300 & echo $!; wait");
  for (let round = 0; round < 2; round++)
    expect(await say({ action: "kill", id })).toMatchObject({
      details: { state: "ended" },
      text: expect.stringContaining("cancelled"),
    });
  const child = Number((await say({ action: "log", id })).text);
  // Gone, or dead and not yet collected by its parent.
  const stat = await readFile(`/proc/${child}/stat`, "utf8").catch(() => ") Z");
  expect(stat.slice(stat.lastIndexOf(")"))).toMatch(/^\) [ZX]/u);
});

test("cut off before the result: it was begun, and is not begun again", async () => {
  const { begin, context } = await space();
  const { id } = await begin("sleep 300");
  const probed = await probeTool(exec, { command: "sleep 300", background: true }, {}, context);
  expect(probed).toMatchObject({ kind: "happened", outcome: { details: { process: id } } });
});

test("what is not there is said to be not there", async () => {
  const { say } = await space();
  expect(await say({ action: "list" })).toMatchObject({ ok: true, text: "There is no command in the background." });
  expect(await say({ action: "poll", id: "../../x" })).toMatchObject({ ok: false });
  expect(process_.check({ action: "kill" })).toContain("id");
});

test("of a long output the beginning and the end are shown, and where all of it is", async () => {
  const { begin, say, context } = await space();
  const { id } = await begin("seq 1 40000");
  const { text } = await say({ action: "poll", id, waitMs: 20_000 });
  expect(text).toMatch(/^ended.*\n1\n2\n/u);
  expect(text.endsWith("39999\n40000")).toBe(true);
  expect(text).toContain(`the whole output is in ${context.attemptDirectory}`);
  expect((await readFile(join(context.attemptDirectory, "output"), "utf8")).split("\n")).toHaveLength(40_001);
});
