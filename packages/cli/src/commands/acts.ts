/**
 * `holdfast session branch | fork | label | rename`: a conversation's tree and name, changed without a model.
 * Invariant: every change is durable before the command says so.
 */
import { labelEntry, renameSession, type Session } from "@holdfast/sessions";
import type { CommandContext } from "../context.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { findSession, keyFor } from "../find.ts";
import { printable } from "../output.ts";
import { withSessions } from "../writing.ts";

/** `{ key, leaf, from, durable }` */
export async function branchSession(context: CommandContext, name: string, entryId: string): Promise<ExitCode> {
  return onSession(context, name, async (session) => {
    const { durable } = await session.branch(entryId);
    const value = { key: session.key, leaf: session.leaf(), from: entryId, durable };
    context.output.result(value, () => `The next entry goes after ${printable(entryId)}.`);
  });
}

export interface ForkCommand {
  readonly entry?: string;
  readonly wholeTurns?: boolean;
}

/** `{ key, from, sessionId, entryId, closedCalls }` */
export async function forkSession(
  context: CommandContext,
  name: string,
  to: string,
  options: ForkCommand,
): Promise<ExitCode> {
  const { key, agentId } = await findSession(context, name);
  const target = await keyFor(context, to);
  return withSessions(context, agentId, async ({ keep }) => {
    const forked = await keep.fork(key, target, { entryId: options.entry, wholeTurns: options.wholeTurns });
    const { sessionId } = forked.row;
    const value = { key: target, from: key, sessionId, entryId: forked.from, closedCalls: forked.closedCalls };
    context.output.result(value, (paint) => {
      const closed = forked.closedCalls === 0 ? "" : ` ${forked.closedCalls} open call(s) are closed in the copy.`;
      return `${paint.green("forked")}  ${printable(target)} goes on from ${printable(forked.from ?? "the beginning")}.${closed}`;
    });
    return EXIT.ok;
  });
}

/** `{ key, entryId, label, durable }`; an empty text takes the label back. */
export async function labelOf(context: CommandContext, name: string, entryId: string, text: string): Promise<ExitCode> {
  return onSession(context, name, async (session) => {
    const { durable } = await labelEntry(session, entryId, text);
    const value = { key: session.key, entryId, label: text === "" ? null : text, durable };
    context.output.result(value, () => (text === "" ? "The label is gone." : `Labelled: ${printable(text)}.`));
  });
}

/** `{ key, name, durable }`; an empty text takes the name back. */
export async function rename(context: CommandContext, name: string, text: string): Promise<ExitCode> {
  const { key, agentId } = await findSession(context, name);
  return withSessions(context, agentId, async (sessions) => {
    await using session = await sessions.open(key);
    const { durable } = await renameSession(session, text);
    await sessions.update(key, { label: text === "" ? undefined : text });
    const value = { key, name: text === "" ? null : text, durable };
    context.output.result(value, () => (text === "" ? "The name is gone." : `It is called ${printable(text)} now.`));
    return EXIT.ok;
  });
}

async function onSession(
  context: CommandContext,
  name: string,
  work: (session: Session) => Promise<void>,
): Promise<ExitCode> {
  const { key, agentId } = await findSession(context, name);
  return withSessions(context, agentId, async (sessions) => {
    await using session = await sessions.open(key);
    await work(session);
    return EXIT.ok;
  });
}
