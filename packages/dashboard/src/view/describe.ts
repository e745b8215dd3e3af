/** One human line for a tool call, in its present stage; and the sign beside it. */
import type { Text } from "../text/en.ts";
import type { Call } from "./calls.ts";

export type Sign =
  | "waiting"
  | "ok"
  | "failed"
  | "happened"
  | "not_started"
  | "absent"
  | "conflict"
  | "unknown"
  | "in_flight";

export function signOf(call: Call): Sign {
  if (call.verdict !== null) return call.verdict;
  return call.state === "open" ? "unknown" : call.state;
}

/** `text.call` entries for the three stages of one tool. */
interface Stages {
  readonly done: string;
  readonly doing: string;
  readonly failed: string;
}

export function describeCall(call: Call, text: Text): string {
  const stages = stagesOf(call, text);
  const sign = signOf(call);
  if (sign === "in_flight") return stages.doing;
  if (sign === "waiting") return text.call.waiting(subjectOf(call));
  if (sign === "ok" || sign === "happened") return stages.done;
  if (sign === "unknown") return text.call.unsettled(subjectOf(call));
  return stages.failed;
}

function stagesOf(call: Call, text: Text): Stages {
  const t = text.call;
  const subject = subjectOf(call);
  switch (call.tool) {
    case "read":
      return { done: t.read(subject), doing: t.reading(subject), failed: t.notRead(subject) };
    case "write":
      return { done: t.write(subject, linesOf(call)), doing: t.writing(subject), failed: t.notWritten(subject) };
    case "edit":
      return { done: t.edit(subject), doing: t.editing(subject), failed: t.notEdited(subject) };
    case "exec":
      return { done: t.exec(subject), doing: t.executing(subject), failed: t.notExecuted(subject) };
    default:
      return { done: t.other(call.tool), doing: t.using(call.tool), failed: t.notUsed(call.tool) };
  }
}

const SUBJECT_CHARS_MAX = 80;

/** What the call is about: its path or command, in one line; else the tool's name. */
function subjectOf(call: Call): string {
  const value = call.arguments.path ?? call.arguments.command;
  if (typeof value !== "string" || value.trim() === "") return call.tool;
  const line = value.trim().replace(/\s+/g, " ");
  return line.length > SUBJECT_CHARS_MAX ? `${line.slice(0, SUBJECT_CHARS_MAX - 1)}…` : line;
}

/** Lines of the text to be written; a final newline ends a line and begins none. */
function linesOf(call: Call): number {
  const content = call.arguments.content;
  if (typeof content !== "string" || content === "") return 0;
  return content.replace(/\n$/, "").split("\n").length;
}

/** Arguments as people read them: the main text as it is, the rest as `name: value` lines. */
export function argumentsText(call: Call): string {
  const lines = Object.entries(call.arguments).map(([name, value]) => {
    if (typeof value !== "string") return `${name}: ${JSON.stringify(value)}`;
    return value.includes("\n") ? `${name}:\n${value.trimEnd()}` : `${name}: ${value}`;
  });
  return lines.join("\n");
}

/** Evidence is structured data of the probe; shown as `name: value` lines. */
export function evidenceText(evidence: unknown): string {
  if (typeof evidence === "string") return evidence;
  if (typeof evidence !== "object" || evidence === null) return "";
  return Object.entries(evidence)
    .map(([name, value]) => `${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join("\n");
}
