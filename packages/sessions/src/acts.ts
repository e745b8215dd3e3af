/**
 * What a person does with a tree, beyond `Session.branch`. Three acts on a message are kept apart:
 *
 *   branch here and write on   `session.branch(id)`    the message stays on the path; the next one follows it
 *   answer again               `answerAgain`           the question stays, its answer does not; the next one is a sibling
 *   edit and resend            `editAndResend`         a sibling of the message itself, also of the first one
 *
 * Invariant: each act is one write, durable when it returns; nothing that was said is changed or unreachable afterwards.
 */
import type { ContentBlock, Entry, MessageEntry, NewEntry } from "./entry.ts";
import { fieldsOf, isCustomMessage, isMessage } from "./entry.ts";
import { SessionError } from "./errors.ts";
import type { AppendOptions, Appended, Session } from "./types.ts";

type Content = string | readonly ContentBlock[];

/**
 * Stands before another answer to the same question: the leaf becomes the user message that `entryId` is, or that it
 * answers. Append the new answer next. Throws `entry_missing`; `bad_entry` where nothing was asked.
 */
export async function answerAgain(
  session: Session,
  entryId: string,
  options: AppendOptions = {},
): Promise<Appended & { readonly question: string }> {
  const question = await questionOf(session, entryId);
  const moved = await session.branch(question.id, { ...options, reason: "answer_again" });
  return { ...moved, question: question.id };
}

async function questionOf(session: Session, entryId: string): Promise<MessageEntry> {
  for await (const entry of upFrom(session, entryId)) if (isUser(entry)) return entry;
  throw new SessionError("bad_entry", { reason: `there is no question above ${entryId}` });
}

/**
 * Says something else in place of the user message `entryId`, as its sibling. What was stored beside the old text (its
 * key, its sender) is not taken over: it belongs to the message that arrived. Throws `entry_missing`, `bad_entry`.
 */
export async function editAndResend(
  session: Session,
  entryId: string,
  content: Content,
  options: AppendOptions & { readonly timestamp?: number } = {},
): Promise<Appended> {
  const { timestamp, ...rest } = options;
  const original = await there(session, entryId);
  if (!isUser(original)) throw new SessionError("bad_entry", { reason: `${entryId} is not a user message` });
  const time = timestamp === undefined ? {} : { timestamp };
  const again: NewEntry = { type: "message", message: { role: "user", content, ...time } };
  return session.append([moveTo(session, original.parentId, "edit"), again], rest);
}

/**
 * Goes on from `entryId` (null: from the very beginning) with a summary of the branch that is left. Throws `entry_missing`.
 */
export async function branchWithSummary(
  session: Session,
  entryId: string | null,
  summary: { readonly text: string; readonly details?: unknown },
  options: AppendOptions = {},
): Promise<Appended> {
  if (entryId !== null) await there(session, entryId);
  const { text, details } = summary;
  const more = details === undefined ? {} : { details };
  const entry: NewEntry = { type: "branch_summary", fromId: session.leaf() ?? "root", summary: text, ...more };
  return session.append([moveTo(session, entryId, "summary"), entry], options);
}

/** Names an entry, wherever it is; an empty label takes the name back. Throws `entry_missing`. */
export async function labelEntry(session: Session, entryId: string, label: string): Promise<Appended> {
  await there(session, entryId);
  const text = oneLine(label);
  return session.append({ type: "label", targetId: entryId, ...(text === "" ? {} : { label: text }) });
}

/** Names the conversation; an empty name takes it back. */
export async function renameSession(session: Session, name: string): Promise<Appended> {
  return session.append({ type: "session_info", name: oneLine(name) });
}

function oneLine(text: string): string {
  return text.replace(/[\r\n\u2028\u2029]+/g, " ").trim();
}

/**
 * Changes what an entry on the current path gives to the model, from now on and on this branch; null: nothing. The entry
 * itself stays as it was said. Throws `entry_missing`, `bad_entry`.
 */
export async function editContext(
  session: Session,
  entryId: string,
  replacement: { readonly content: Content } | null,
): Promise<Appended> {
  const target = session.path().find((entry) => entry.id === entryId) ?? (await there(session, entryId));
  const role = isMessage(target) ? target.message.role : isCustomMessage(target) ? "custom" : "";
  if (!EDITABLE.has(role)) {
    throw new SessionError("bad_entry", { reason: `${entryId} gives the model nothing that can be edited` });
  }
  if (!(await isOnPath(session, entryId))) {
    throw new SessionError("bad_entry", { reason: `${entryId} is not on the current branch` });
  }
  return session.append({ type: "context_edit", targetId: entryId, replacement: asBlocks(replacement, role) });
}

const EDITABLE: ReadonlySet<string> = new Set(["user", "assistant", "toolResult", "custom"]);

/** Answers and results have blocks only. */
function asBlocks(replacement: { readonly content: Content } | null, role: string) {
  if (replacement === null || (role !== "assistant" && role !== "toolResult")) return replacement;
  const { content } = replacement;
  return typeof content === "string" ? { content: [{ type: "text", text: content }] } : replacement;
}

async function isOnPath(session: Session, entryId: string): Promise<boolean> {
  if (session.path().some((entry) => entry.id === entryId)) return true;
  // What is loaded begins with the context; the path goes on above it.
  const leaf = session.leaf();
  return leaf !== null && (await session.tree.commonAncestor(entryId, leaf))?.id === entryId;
}

/** The entry and those above it. Ends where a damaged link leads nowhere or back to what was passed. */
async function* upFrom(session: Session, id: string | null): AsyncGenerator<Entry> {
  const passed = new Set<string>();
  for (let at = id; at !== null && !passed.has(at); ) {
    const entry: Entry | undefined = passed.size === 0 ? await there(session, at) : await session.entry(at);
    if (entry === undefined) return;
    passed.add(at);
    yield entry;
    at = entry.parentId;
  }
}

function moveTo(session: Session, parentId: string | null, reason: string): NewEntry {
  return { type: "custom", customType: "holdfast:leaf", parentId, data: { from: session.leaf(), reason } };
}

function isUser(entry: Entry): entry is MessageEntry {
  return isMessage(entry) && fieldsOf(entry.message).role === "user";
}

async function there(session: Session, id: string): Promise<Entry> {
  const entry = await session.entry(id);
  if (entry === undefined) throw new SessionError("entry_missing", { entry: id, session: session.id });
  return entry;
}
