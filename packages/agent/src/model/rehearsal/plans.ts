/**
 * How each wish is carried out: from what was done so far to the next move, a call or an answer. Pure.
 * Invariant: a plan never says that something happened unless a result says so, and each call brings it nearer its end.
 */
import { assertNever } from "@holdfast/base";
import type { Conversation, Step } from "./conversation.ts";
import { MEMORY, NOTES, TODO, type Task } from "./intents.ts";
import { splitTodo } from "./split.ts";
import { checkList, findTodos } from "./todos.ts";
import type { Words } from "./words.ts";

export type Move =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "call"; readonly tool: string; readonly args: Readonly<Record<string, string>> };

export interface Scene {
  readonly words: Words;
  readonly conversation: Conversation;
  /** What was done for this wish, oldest first. */
  readonly steps: readonly Step[];
}

/** Longer files may have been cut by the tool; writing one back would lose its end. */
const REWRITE_CHARS_MAX = 20_000;

const say = (...parts: readonly string[]): Move => ({ kind: "say", text: parts.join("\n\n") });
const call = (tool: string, args: Readonly<Record<string, string>>): Move => ({ kind: "call", tool, args });
const last = (scene: Scene, tool: string): Step | undefined => scene.steps.findLast((step) => step.tool === tool);

const isMissing = (text: string): boolean => /ENOENT|no such file|not exist|not found|not there|missing/i.test(text);
const isForbidden = (text: string): boolean => /EACCES|EPERM|EROFS|permission|denied|not allowed|read-only/i.test(text);

/** What the `read` tool says instead of nothing. */
const EMPTY_FILE = "(the file is empty)";

/** The beginning of a tool's text on one line, as a reason. */
function reason(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 300 ? `${line.slice(0, 300)}…` : line;
}

/** A fence longer than any in the text, so that the text cannot end it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map((match) => match[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
}

const numbered = (items: readonly string[]): string => items.map((item, index) => `${index + 1}. ${item}`).join("\n");

/** The newest to-do list that a file read or written in this conversation holds. */
function knownTodos(steps: readonly Step[]): readonly string[] {
  for (const step of steps.toReversed()) {
    const text = todoText(step);
    const items = text === null ? [] : findTodos(text);
    if (items.length > 0) return items;
  }
  return [];
}

function todoText(step: Step): string | null {
  if (step.failed) return null;
  if (step.tool === "read") return step.text;
  return step.tool === "write" && typeof step.args.content === "string" ? step.args.content : null;
}

function read(path: string, scene: Scene): Move {
  const done = last(scene, "read");
  if (done === undefined) return call("read", { path });
  return done.failed ? unreadable(path, done, scene) : say(scene.words.fileShown(path, fenced(done.text)));
}

function unreadable(path: string, done: Step, { words }: Scene): Move {
  const failure = words.readFailed(path, reason(done.text));
  return path === NOTES && isMissing(done.text) ? say(failure, words.sampleHint) : say(failure);
}

function todos(path: string, scene: Scene): Move {
  const done = last(scene, "read");
  if (done === undefined) return call("read", { path });
  if (done.failed) return unreadable(path, done, scene);
  const items = findTodos(done.text);
  return say(items.length === 0 ? scene.words.todosNone(path) : scene.words.todosFound(path, numbered(items)));
}

function save({ source, target }: Extract<Task, { kind: "save" }>, scene: Scene): Move {
  const { words, conversation } = scene;
  const written = last(scene, "write");
  if (written !== undefined) return afterSaving(target, written, scene);
  const path = source ?? NOTES;
  const done = last(scene, "read");
  if (done?.failed) return unreadable(path, done, scene);
  const known = source === null ? knownTodos(conversation.steps) : [];
  if (done === undefined && known.length === 0) return call("read", { path });
  const items = done === undefined ? known : findTodos(done.text);
  if (items.length === 0) return say(words.todosNone(path));
  return call("write", { path: target, content: checkList(words.listHeading, items) });
}

function afterSaving(target: string, written: Step, { words }: Scene): Move {
  if (!written.failed) return say(words.saved(target, numbered(findTodos(String(written.args.content ?? "")))));
  const failure = words.notSaved(target, reason(written.text));
  return isForbidden(written.text) ? say(failure, `${words.permissionHint} ${words.retryHint}`) : say(failure);
}

function split(which: number | null, scene: Scene): Move {
  const { words, conversation } = scene;
  const items = knownTodos(conversation.steps);
  if (items.length === 0) return last(scene, "read") ? say(words.noList(TODO)) : call("read", { path: TODO });
  const place = which ?? (items.length === 1 ? 1 : null);
  if (place === null) return say(words.splitWhich(numbered(items)));
  const item = items.at(place === -1 ? -1 : place - 1);
  if (item === undefined || place === 0) return say(words.splitMissing(place, numbered(items)));
  const number = place === -1 ? items.length : place;
  return say(words.splitDone(number, item, numbered(splitTodo(item, conversation.language))));
}

function remember(fact: string, scene: Scene): Move {
  const { words } = scene;
  const written = last(scene, "write");
  if (written !== undefined) {
    return say(written.failed ? words.notRemembered(reason(written.text)) : words.remembered(fact, MEMORY));
  }
  const done = last(scene, "read");
  if (done === undefined) return call("read", { path: MEMORY });
  if (done.failed && !isMissing(done.text)) return say(words.notRemembered(reason(done.text)));
  const before = done.failed || done.text === EMPTY_FILE ? "# MEMORY" : done.text.trimEnd();
  if (before.length > REWRITE_CHARS_MAX) return say(words.memoryTooLarge(MEMORY));
  const gap = /^\s*- .*$/.test(before.split("\n").at(-1) ?? "") ? "\n" : "\n\n";
  return call("write", { path: MEMORY, content: `${before}${gap}- ${fact.replace(/\s+/g, " ")}\n` });
}

function recall(about: string, scene: Scene): Move {
  const { words } = scene;
  const done = last(scene, "read");
  if (done === undefined) return call("read", { path: MEMORY });
  if (done.failed && !isMissing(done.text)) return say(words.readFailed(MEMORY, reason(done.text)));
  const text = done.failed || done.text === EMPTY_FILE ? "" : done.text;
  const lines = text.split("\n").filter((line) => line.trim() !== "" && !/^\s*#/.test(line));
  if (lines.length === 0) return say(words.nothingRemembered);
  const keys = keysIn(about);
  const matching = lines.filter((line) => keys.some((key) => line.toLowerCase().includes(key)));
  return say(words.recalled(MEMORY, (matching.length > 0 ? matching : lines).join("\n")));
}

const COMMON = new Set(["the", "and", "that", "what", "about", "you", "told", "did", "does", "for", "was", "are"]);

/** What to look for: longer words, and pairs of Han characters. */
function keysIn(about: string): readonly string[] {
  const words = (about.toLowerCase().match(/[\p{Script=Latin}\p{N}]{3,}/gu) ?? []).filter((word) => !COMMON.has(word));
  const pairs = (about.match(/\p{Script=Han}+/gu) ?? []).flatMap((run) =>
    [...run].slice(1).map((character, index) => `${[...run][index]}${character}`),
  );
  return [...words, ...pairs];
}

function run(command: string, scene: Scene): Move {
  const done = last(scene, "exec");
  if (done === undefined) return call("exec", { command });
  const output = fenced(done.text);
  return say(done.failed ? scene.words.runFailed(command, output) : scene.words.ran(command, output));
}

function sample(scene: Scene): Move {
  const { words } = scene;
  const written = last(scene, "write");
  if (written !== undefined)
    return written.failed ? afterSaving(NOTES, written, scene) : say(words.sampleWritten(NOTES));
  const done = last(scene, "read");
  if (done === undefined) return call("read", { path: NOTES });
  if (!done.failed) return say(words.sampleExists(NOTES));
  if (!isMissing(done.text)) return say(words.readFailed(NOTES, reason(done.text)));
  return call("write", { path: NOTES, content: words.sample });
}

/** The next move towards the wish. */
export function plan(task: Task, scene: Scene): Move {
  switch (task.kind) {
    case "read":
      return read(task.path, scene);
    case "todos":
      return todos(task.source, scene);
    case "save":
      return save(task, scene);
    case "split":
      return split(task.which, scene);
    case "remember":
      return remember(task.fact, scene);
    case "recall":
      return recall(task.about, scene);
    case "run":
      return run(task.command, scene);
    case "sample":
      return sample(scene);
    default:
      return assertNever(task);
  }
}
