/**
 * `holdfast actions`: what agents did, or may have done, with what is known of it; and a person's verdict.
 * Reads transcripts without a gateway; a verdict goes through the running one.
 */
import { join } from "node:path";
import type { LedgerAction } from "@holdfast/agent";
import { runningGateway } from "../door.ts";
import type { CommandContext } from "../context.ts";
import { CliError, EXIT, type ExitCode } from "../errors.ts";
import { findSession } from "../find.ts";
import { homeOf } from "../home.ts";
import { printable } from "../output.ts";
import { type StoredSession, storedSessions } from "../stores.ts";
import { ago, columns } from "../table.ts";
import { sessionsOf } from "../writing.ts";

const KEY_CHARS = 12;

export interface ActionsCommand {
  readonly session?: string;
  readonly open?: boolean;
}

type Listed = LedgerAction & { readonly session: string };

/** `{ "actions": [{ "session", "key", "tool", "args", "state", "by", "evidence", "result", "at", ... }] }`, oldest first. */
export async function listActions(
  context: CommandContext,
  { session, open = false }: ActionsCommand,
): Promise<ExitCode> {
  const stored = session === undefined ? (await storedSessions(context)).rows : [await findSession(context, session)];
  const all: Listed[] = [];
  for (const one of stored) all.push(...(await actionsOf(context, one)));
  const actions = open ? all.filter(({ state }) => ["open", "unknown", "conflict"].includes(state)) : all;
  context.output.result({ actions }, (paint) => {
    if (actions.length === 0) return open ? "Nothing is open or unsettled." : "No action is on record.";
    const nowMs = context.world.nowMs();
    const rows = actions.map((action) => [
      action.key.slice(0, KEY_CHARS),
      action.state,
      action.tool,
      ago(Date.parse(action.at), nowMs),
      action.session,
      printable(JSON.stringify(action.args).slice(0, 60)),
    ]);
    const table = columns([["ACTION", "STATE", "TOOL", "BEGUN", "CONVERSATION", "ARGUMENTS"], ...rows]);
    const unsettled = actions.some(({ state }) => state === "unknown" || state === "conflict");
    return unsettled
      ? `${table}\n${paint.dim("holdfast actions settle ACTION --happened|--absent says what you found.")}`
      : table;
  });
  return EXIT.ok;
}

async function actionsOf(
  context: CommandContext,
  { key, directory, agentId, row }: StoredSession,
): Promise<readonly Listed[]> {
  const [{ ledgerOf }, { openSessions }] = await Promise.all([import("@holdfast/agent"), import("@holdfast/sessions")]);
  if (row.sessionId === undefined) return [];
  await using sessions = await openSessions({ directory, agentId, onProblem: () => undefined }, context.world);
  if ((await sessions.get(key)) === undefined) return [];
  await using session = await sessions.open(key);
  return (await ledgerOf(session)).map((action) => ({ session: key, ...action }));
}

export interface SettleCommand {
  readonly happened?: boolean;
  readonly absent?: boolean;
  readonly note?: string;
}

/** `{ "action": {...}, "durable" }` */
export async function settleAction(context: CommandContext, id: string, command: SettleCommand): Promise<ExitCode> {
  const happened = command.happened === true;
  if (happened === (command.absent === true))
    throw new CliError("usage", { what: "Say what you found: --happened or --absent." });
  const found = await holderOf(context, id);
  const client = await runningGateway(context);
  const request = { happened, ...(command.note === undefined ? {} : { note: command.note }) };
  const settled =
    client === null
      ? await settleHere(context, found, { id, ...request })
      : await client.settleAction(found.key, id, request);
  context.output.result(settled, () => {
    const { tool, session } = { ...settled.action, session: found.key };
    return `${tool} in ${session}: ${happened ? "it happened" : "it did not happen"}. The agent is told.`;
  });
  return EXIT.ok;
}

async function holderOf(context: CommandContext, id: string): Promise<StoredSession> {
  for (const stored of (await storedSessions(context)).rows)
    if ((await actionsOf(context, stored)).some((action) => action.key.startsWith(id))) return stored;
  throw new CliError("action_unknown", { id });
}

interface Settled {
  readonly action: LedgerAction;
  readonly durable: boolean;
}

async function settleHere(
  context: CommandContext,
  { key, agentId }: StoredSession,
  { id, happened, note }: { readonly id: string; readonly happened: boolean; readonly note?: string },
): Promise<Settled> {
  const { diskFolders, settleByPerson } = await import("@holdfast/agent");
  await using sessions = await sessionsOf(context, agentId);
  await using session = await sessions.open(key);
  const settled = await settleByPerson(
    session,
    { key: id, happened, by: "owner", ...(note === undefined ? {} : { note }) },
    { folders: diskFolders(join(homeOf(context), "actions")), world: context.world },
  );
  if (settled.kind === "settled") return settled;
  throw new CliError(settled.kind === "open" ? "action_unfinished" : "action_unknown", { id });
}
