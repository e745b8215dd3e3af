/**
 * A real process is killed (SIGKILL) at every point of a turn that writes a file and runs a command; a second one goes on.
 * Facts come from outside: a watcher counts how often the file was put in place, the bell's file how often the command ran.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, watch } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { realWorld } from "@holdfast/base";
import { openSessions } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { openCalls } from "../src/next-step.ts";
import { dataOf, entriesOf, outline, resultsOf } from "./support/agent.ts";
import { CONTENT, workOn } from "./support/turn-child.ts";

const CHILD = fileURLToPath(new URL("./support/turn-child.ts", import.meta.url));
const AT_ONCE = 3;

async function life(root: string, env: Record<string, string>): Promise<string | null> {
  const args = ["--conditions=holdfast-src", CHILD, root];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ["ignore", "ignore", "pipe"] });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const [code, signal] = await once(child, "exit");
  if (signal === null && code !== 0) throw new Error(`the child ended with ${code}: ${errors}`);
  return signal;
}

async function makeRoot(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "holdfast-kill-"));
  await mkdir(join(root, "workspace", "notes"), { recursive: true });
  return root;
}

/** Counts how often the file was put in place, by the kernel's notifications. */
function countPlacements(root: string): { stop(): Promise<number> } {
  const stop = new AbortController();
  const counting = (async () => {
    let count = 0;
    try {
      for await (const { eventType, filename } of watch(join(root, "workspace", "notes"), { signal: stop.signal })) {
        if (eventType === "rename" && filename === "todo.md") count += 1;
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
    return count;
  })();
  return {
    async stop() {
      await realWorld().sleep(20);
      stop.abort();
      return counting;
    },
  };
}

/** All that must hold after the second life, as one comparable value. */
async function facts(root: string) {
  await using sessions = await openSessions({ directory: join(root, "sessions") });
  const entries = await entriesOf(sessions);
  const lane = JSON.parse(await readFile(join(root, "lane.json"), "utf8"));
  const words = outline(entries);
  return {
    content: await readFile(join(root, "workspace", "notes", "todo.md"), "utf8"),
    bell: await readFile(join(root, "workspace", "bell.log"), "utf8"),
    replies: lane.finished.map((reply: { text: string }) => reply.text),
    heard: words.filter((word) => word === "user").length,
    answers: words.filter((word) => word === "answer").length,
    results: resultsOf(entries).map((result) => [result.toolName, result.isError]),
    open: openCalls(entries).length,
    ids: entries.length - new Set(entries.map((entry) => entry.id)).size,
    verdicts: dataOf(entries, "verdict").map((data) => data.verdict),
  };
}

const EXPECTED = {
  content: CONTENT,
  bell: "rung\n",
  replies: ["All done."],
  heard: 1,
  answers: 1,
  results: [
    ["write", false],
    ["exec", false],
  ],
  open: 0,
  ids: 0,
};

/**
 * `HOLDFAST_LARGE=1` takes every point. Else those are taken that differ from their neighbours in what is on disk or done;
 * the index and the transcript's own writes are killed at in the sessions package.
 */
function isTold({ name }: { readonly name: string }): boolean {
  if (process.env.HOLDFAST_LARGE === "1") return true;
  return / (effect|write|exec|file):| action:before-record$| model:after-answer$/.test(name);
}

async function pointsOf(root: string): Promise<readonly string[]> {
  const trace = join(root, "trace");
  await life(root, { HOLDFAST_FAULT_TRACE: trace });
  return (await readFile(trace, "utf8")).trim().split("\n");
}

interface Round {
  readonly name: string;
  readonly verdicts: readonly unknown[];
}

async function round(point: number, name: string): Promise<Round> {
  const root = await makeRoot();
  const placements = countPlacements(root);
  expect(await life(root, { HOLDFAST_FAULT: `kill@${point}` }), name).toBe("SIGKILL");
  expect(await workOn(root), name).toMatchObject({ kind: "replied", text: "All done." });
  const { verdicts, ...found } = await facts(root);
  expect({ name, ...found, placed: await placements.stop() }).toEqual({ name, ...EXPECTED, placed: 1 });
  await rm(root, { recursive: true, force: true });
  return { name, verdicts };
}

test("killed at every point, every effect happens once and the message is answered once", {
  timeout: 120_000,
}, async () => {
  const root = await makeRoot();
  const points = await pointsOf(root);
  await rm(root, { recursive: true, force: true });
  expect(points.length).toBeGreaterThan(40);
  const rounds: Round[] = [];
  const waiting = points.map((line, index) => ({ point: index + 1, name: line })).filter(isTold);
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      rounds.push(await round(next.point, next.name));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const verdictAt = (name: string) => rounds.find((one) => one.name.endsWith(` ${name}`))?.verdicts;
  expect(verdictAt("effect:before:write")).toEqual(["absent"]);
  expect(verdictAt("write:before-rename")).toEqual(["absent"]);
  expect(verdictAt("write:after-rename")).toEqual(["happened"]);
  expect(verdictAt("effect:after:write")).toEqual(["happened"]);
  expect(verdictAt("effect:before:exec")).toEqual(["absent"]);
  expect(verdictAt("exec:before-spawn")).toEqual(["absent"]);
  expect(verdictAt("effect:after:exec")).toEqual(["happened"]);
});
