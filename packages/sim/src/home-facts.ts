/**
 * What a stopped home says on disk, read without the gateway: the facts that the promises are checked against.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject, tryParse } from "@holdfast/base";
import { verifyTranscript } from "@holdfast/sessions/internal";

export interface HomeFacts {
  /** Paths of all transcripts of the agent `main`. */
  readonly transcripts: readonly string[];
  readonly userEntries: number;
  readonly finalAnswers: number;
  /** Results per call, as `entryId/ordinal`. */
  readonly resultsPerCall: Readonly<Record<string, number>>;
  readonly calls: number;
  readonly verdicts: readonly string[];
  /** How often the file was put in place, counted by a watcher. */
  readonly placements: number;
  /** How often the command ran, counted by the lines it left. */
  readonly bells: number;
  readonly todo: string;
  /** What `transcript verify` complains of. */
  readonly damage: readonly string[];
}

async function textOf(path: string): Promise<string> {
  return readFile(path, "utf8").catch(() => "");
}

type Line = Record<string, unknown>;

function messageOf(line: Line): Line {
  return isObject(line.message) ? line.message : {};
}

function blocksOf(message: Line): Line[] {
  return Array.isArray(message.content) ? message.content.filter(isObject) : [];
}

function callsOf(line: Line): string[] {
  const message = messageOf(line);
  if (message.role !== "assistant") return [];
  const calls = blocksOf(message).filter((block) => block.type === "toolCall");
  return calls.map((_, ordinal) => `${String(line.id)}/${ordinal}`);
}

function resultOf(line: Line): string | undefined {
  if (messageOf(line).role !== "toolResult" || !isObject(line.call)) return undefined;
  return `${String(line.call.entryId)}/${String(line.call.ordinal)}`;
}

function isFinalAnswer(line: Line): boolean {
  const message = messageOf(line);
  return message.role === "assistant" && callsOf(line).length === 0 && message.stopReason !== "error";
}

/** Reads a home after its gateway has stopped. `placements` comes from whoever watched the directory. */
export async function inspectHome(home: string, placements: number): Promise<HomeFacts> {
  const sessions = join(home, "agents", "main", "sessions");
  const files = (await readdir(sessions).catch(() => [])).filter(
    (name) => name.endsWith(".jsonl") && !name.startsWith("sessions.journal-"),
  );
  const transcripts = files.map((name) => join(sessions, name));
  const lines: Line[] = [];
  const damage: string[] = [];
  for (const file of transcripts) {
    lines.push(...(await textOf(file)).split("\n").map(tryParse).filter(isObject));
    const verified = await verifyTranscript(file);
    if (!verified.ok) damage.push(JSON.stringify(verified));
  }
  const resultsPerCall: Record<string, number> = {};
  const calls = lines.flatMap(callsOf);
  for (const call of calls) resultsPerCall[call] = 0;
  for (const result of lines.map(resultOf)) {
    if (result !== undefined) resultsPerCall[result] = (resultsPerCall[result] ?? 0) + 1;
  }
  const verdicts = lines
    .filter((line) => line.customType === "holdfast:verdict")
    .map((line) => (isObject(line.data) ? String(line.data.verdict) : "?"));
  return {
    transcripts,
    userEntries: lines.filter((line) => messageOf(line).role === "user").length,
    finalAnswers: lines.filter(isFinalAnswer).length,
    resultsPerCall,
    calls: calls.length,
    verdicts,
    placements,
    bells: (await textOf(join(home, "workspace", "bell.log"))).split("\n").filter((line) => line === "rung").length,
    todo: await textOf(join(home, "workspace", "notes", "todo.md")),
    damage,
  };
}

/** The promises of the campaign (product.md P1, P2, P3, P5, P6), each as a sentence when it is broken. */
export function violationsOf(facts: HomeFacts, expectedTodo?: string): string[] {
  const broken: string[] = [...facts.damage.map((text) => `the transcript is damaged: ${text}`)];
  const want = (condition: boolean, sentence: string): void => {
    if (!condition) broken.push(sentence);
  };
  want(facts.transcripts.length === 1, `${facts.transcripts.length} transcripts for one key`);
  want(facts.userEntries === 1, `the message is in the log ${facts.userEntries} times`);
  want(facts.finalAnswers === 1, `${facts.finalAnswers} final answers`);
  want(facts.calls === 2, `${facts.calls} calls instead of 2`);
  for (const [call, count] of Object.entries(facts.resultsPerCall))
    want(count === 1, `call ${call} has ${count} results`);
  want(facts.placements === 1, `the file was put in place ${facts.placements} times`);
  want(facts.bells === 1, `the command ran ${facts.bells} times`);
  if (expectedTodo !== undefined) want(facts.todo === expectedTodo, `the file holds ${JSON.stringify(facts.todo)}`);
  return broken;
}
