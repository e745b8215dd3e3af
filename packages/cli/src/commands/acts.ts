/**
 * `holdfast session branch | fork | label | rename`: a conversation's tree and name, changed without a model.
 * Invariant: every change is durable before the command says so.
 */
import type { CommandContext } from "../context.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { findSession, keyFor } from "../find.ts";
import { printable } from "../output.ts";
import { counted } from "../table.ts";
import { withActs } from "../writing.ts";

const ARGS_SHOWN = 100;

/** `{ key, leaf, from, left, durable }`; `left`: what was done on the part of the branch that is left. */
export async function branchSession(context: CommandContext, name: string, entryId: string): Promise<ExitCode> {
  const { key, agentId } = await findSession(context, name);
  const value = await withActs(context, agentId, (acts) => acts.branch(key, entryId));
  context.output.result(value, (paint) => {
    const left = value.left.map(({ tool, args, state }) => {
      const act = `${tool} ${printable(JSON.stringify(args)).slice(0, ARGS_SHOWN)}`;
      return state === "done" || state === "happened" ? `  ${act}` : `  ${act}  ${paint.yellow(state)}`;
    });
    const told = left.length === 0 ? [] : ["What was done on the branch you leave stays done:", ...left];
    return [`The next entry goes after ${printable(entryId)}.`, ...told].join("\n");
  });
  return EXIT.ok;
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
  { entry, wholeTurns = false }: ForkCommand,
): Promise<ExitCode> {
  const { key, agentId } = await findSession(context, name);
  const target = await keyFor(context, to);
  const point = { wholeTurns, ...(entry === undefined ? {} : { entryId: entry }) };
  const value = await withActs(context, agentId, (acts) => acts.fork(key, target, point));
  context.output.result(value, (paint) => {
    const { entryId, closedCalls } = value;
    const closed = closedCalls === 0 ? "" : ` Closed in the copy: ${counted(closedCalls, "open call")}.`;
    return `${paint.green("forked")}  ${printable(target)} goes on from ${printable(entryId ?? "the beginning")}.${closed}`;
  });
  return EXIT.ok;
}

/** `{ key, entryId, label, durable }`; an empty text takes the label back. */
export async function labelOf(context: CommandContext, name: string, entryId: string, text: string): Promise<ExitCode> {
  const { key, agentId } = await findSession(context, name);
  const value = await withActs(context, agentId, (acts) => acts.label(key, entryId, text));
  context.output.result(value, () => (value.label === null ? "The label is gone." : `Labelled: ${printable(text)}.`));
  return EXIT.ok;
}

/** `{ key, name, durable }`; an empty text takes the name back. */
export async function rename(context: CommandContext, name: string, text: string): Promise<ExitCode> {
  const { key, agentId } = await findSession(context, name);
  const value = await withActs(context, agentId, (acts) => acts.rename(key, text));
  context.output.result(value, () =>
    value.name === null ? "The name is gone." : `It is called ${printable(text)} now.`,
  );
  return EXIT.ok;
}
