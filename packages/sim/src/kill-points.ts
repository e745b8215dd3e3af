/**
 * The kill-point campaign: one turn with two tools, the gateway killed (SIGKILL, by itself, at a counted point) at every
 * write to disk, network answer and effect in turn, started again, and the promises checked from outside.
 *
 * Facts come from the client (what was acknowledged), a watcher on the directory (how often the file was put in place),
 * a file the command appends to (how often it ran) and the transcript as `transcript verify` reads it.
 */
import { watch } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { World } from "@holdfast/base";
import { type GatewayChild, startGatewayChild, writeCampaignHome } from "./gateway-child.ts";
import { post, settled } from "./gateway-client.ts";
import { inspectHome, type HomeFacts, violationsOf } from "./home-facts.ts";
import { type Plan, startModelServer } from "./model-server.ts";

export const TODO_TEXT = "1. 写周报\n2. Book the room\n3. Reply to Ana\n";
const QUESTION = "Save the three to-dos and ring the bell once. 保存待办";
const LIMIT_MS = 60_000;

/** The turn that is played: write a file, run a command that leaves a countable trace, say so. */
export const CAMPAIGN_PLAN: Plan = (results) => {
  if (results.length === 0)
    return { text: "", calls: [{ tool: "write", args: { path: "notes/todo.md", content: TODO_TEXT } }] };
  if (results.length === 1)
    return { text: "Saved.", calls: [{ tool: "exec", args: { command: "echo rung >> bell.log" } }] };
  return { text: "All done: saved and rung. 完成", calls: [] };
};

export interface KillRound {
  /** 1-based; null for the round without a kill. */
  readonly point: number | null;
  /** The point's name, from the trace. */
  readonly name: string;
  readonly killed: boolean;
  readonly acknowledged: boolean;
  readonly facts: HomeFacts;
  /** Empty when every promise held. */
  readonly violations: readonly string[];
}

/** How often `name` was put in place in `directory`, seen by the kernel's notifications in this process. */
function countPlacements(directory: string, name: string): { count(): number } & Disposable {
  const seen = { count: 0 };
  const watcher = watch(directory, (event, file) => {
    if (event === "rename" && file === name) seen.count += 1;
  });
  return { count: () => seen.count, [Symbol.dispose]: () => watcher.close() };
}

/** Runs until the child dies at its point, or its work is settled. Returns whether the sender got its acknowledgement. */
async function untilKilledOrSettled(world: World, child: GatewayChild): Promise<boolean> {
  const address = await child.address;
  if (address === null) return false;
  const acknowledged = await post(address, QUESTION, "campaign-1");
  await Promise.race([child.ended, settled(world, address, LIMIT_MS)]);
  return acknowledged;
}

/** The second life: no fault; a sender without an acknowledgement asks again under the same key. */
async function recover(world: World, home: string, acknowledged: boolean): Promise<string[]> {
  const child = startGatewayChild(home);
  const address = await child.address;
  if (address === null) return [`the gateway did not start again: ${child.output()}`];
  const problems: string[] = [];
  if (!acknowledged && !(await post(address, QUESTION, "campaign-1")))
    problems.push("the second life did not acknowledge");
  const seen = await settled(world, address, LIMIT_MS);
  if (seen === null) problems.push(`not settled within ${LIMIT_MS} ms: ${child.output().slice(-2000)}`);
  child.kill("SIGTERM");
  const { code } = await child.ended;
  if (code !== 0) problems.push(`a graceful stop ended with ${code}: ${child.output().slice(-2000)}`);
  return problems;
}

/** One round. `point` null: nobody is killed (gives the trace). `inspect` may add checks, e.g. another reader's opinion. */
export async function killRound(
  world: World,
  point: number | null,
  inspect: (transcript: string) => Promise<readonly string[]> = async () => [],
): Promise<KillRound & { readonly trace: readonly string[] }> {
  const root = await mkdtemp(join(tmpdir(), "holdfast-kill-"));
  const home = join(root, "home");
  await using model = await startModelServer(CAMPAIGN_PLAN);
  await writeCampaignHome(home, model.url);
  const notes = join(home, "workspace", "notes");
  await mkdir(notes, { recursive: true, mode: 0o700 });
  using placed = countPlacements(notes, "todo.md");
  const traceFile = join(root, "trace.txt");
  const child = startGatewayChild(home, { trace: traceFile, ...(point === null ? {} : { fault: `kill@${point}` }) });
  const acknowledged = await untilKilledOrSettled(world, child);
  child.kill("SIGTERM");
  const killed = (await child.ended).signal === "SIGKILL";
  const problems = point === null && !acknowledged ? [`no acknowledgement: ${child.output()}`] : [];
  problems.push(...(await recover(world, home, acknowledged)));
  const facts = await inspectHome(home, placed.count());
  problems.push(...violationsOf(facts, TODO_TEXT));
  for (const file of facts.transcripts) problems.push(...(await inspect(file)));
  const trace = (await readFile(traceFile, "utf8")).trimEnd().split("\n");
  await rm(root, { recursive: true, force: true });
  const name = point === null ? "-" : (trace[point - 1] ?? "(not reached)").replace(/^\d+ /, "");
  return { point, name, killed, acknowledged, facts, violations: problems, trace };
}

/** Which points to kill at: all of them, or every `stride`-th starting at `offset` (both 1-based). */
export function pointsOf(total: number, stride: number, offset = 1): number[] {
  return Array.from({ length: total }, (_, index) => index + 1).filter((point) => point % stride === offset % stride);
}

/** A table for people: one row a point. */
export function tableOf(rounds: readonly KillRound[]): string {
  const rows = rounds.map(({ point, name, killed, acknowledged, facts, violations }) => {
    const end = violations.length === 0 ? "held" : `BROKEN: ${violations.join("; ")}`;
    const cells = [
      point ?? "-",
      name,
      killed ? "killed" : "-",
      acknowledged ? "yes" : "no",
      facts.placements,
      facts.bells,
    ];
    return `| ${[...cells, facts.verdicts.join(", ") || "-", end].join(" | ")} |`;
  });
  const head = "| point | where | | acknowledged before | file placed | command ran | verdicts | promises |";
  return [head, "|---|---|---|---|---|---|---|---|", ...rows].join("\n");
}
