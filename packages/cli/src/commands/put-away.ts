/**
 * `holdfast session reset | clear | archive | restore | cleanup`: whole conversations put away, got back, ended.
 * Invariant: nothing is deleted; what was left as it was is named with the reason, and the exit code tells.
 */
import { CodedError } from "@holdfast/base";
import type { AgentCleanup } from "@holdfast/gateway/internal";
import type { WireCleared } from "@holdfast/gateway/wire";
import type { PutAway } from "@holdfast/sessions";
import type { CommandContext } from "../context.ts";
import { CliError, EXIT, type ExitCode } from "../errors.ts";
import { findSession } from "../find.ts";
import { homeOf } from "../home.ts";
import { type Palette, printable } from "../output.ts";
import { progressOn } from "../progress.ts";
import { ask } from "../prompt.ts";
import { settingsOf } from "../settings.ts";
import { agentsToRead, type StoredSession, storedSessions } from "../stores.ts";
import { counted, sizeText } from "../table.ts";
import { cleanUp, withActs } from "../writing.ts";

export const WHY: Readonly<Record<string, string>> = {
  running: "somebody works on it",
  pinned: "it is pinned",
  open_calls: "a tool call has no result yet",
  open_approvals: "an approval waits for an answer",
  changed: "it is being written to",
  missing: "it has no transcript",
  awaited: "a message waits for it",
};

const BECAUSE: Readonly<Record<string, string>> = {
  age: "nobody spoke to it for long",
  size: "there is more than maxSize",
  background: "there are newer ones of its kind",
};

function exitOf(outcome: PutAway): ExitCode {
  if (outcome.kind === "archived" || outcome.why === "missing") return EXIT.ok;
  return outcome.why === "running" || outcome.why === "changed" ? EXIT.busy : EXIT.problems;
}

function told(outcome: PutAway, paint: Palette): string {
  if (outcome.kind === "archived") return `${paint.green("put away")}  ${outcome.file}`;
  return `${paint.yellow("left")}  ${WHY[outcome.why] ?? outcome.why}`;
}

/** `{ key, sessionId, before }`: the new id, and what became of the transcript before. */
export async function resetSession(context: CommandContext, name: string): Promise<ExitCode> {
  const { key, agentId } = await findSession(context, name);
  const value = await withActs(context, agentId, (acts) => acts.reset(key));
  context.output.result(
    value,
    (paint) => `${printable(key)} begins anew. The one before: ${told(value.before, paint)}`,
  );
  return EXIT.ok;
}

/** `{ key, kind, file | why }`; exit 4 when somebody works on it, 3 when something of it is open. */
export async function archiveSession(context: CommandContext, name: string): Promise<ExitCode> {
  const { key, agentId } = await findSession(context, name);
  const outcome = await withActs(context, agentId, (acts) => acts.archive(key));
  context.output.result(outcome, (paint) => `${printable(key)}  ${told(outcome, paint)}`);
  return exitOf(outcome);
}

/** `{ key, sessionId }`. `name` may also be the id of a transcript that no row names; `as` gives it a key. */
export async function restoreSession(
  context: CommandContext,
  name: string,
  { as }: { readonly as?: string },
): Promise<ExitCode> {
  const { agentId, wanted } = await restorable(context, name);
  const value = await withActs(context, agentId, (acts) => acts.restore(wanted, as));
  context.output.result(value, (paint) => `${paint.green("back")}  ${printable(value.key)}`);
  return EXIT.ok;
}

async function restorable(context: CommandContext, name: string) {
  try {
    const { agentId, key } = await findSession(context, name);
    return { agentId, wanted: key };
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "name_unknown") throw error;
    const { defaultAgent } = await storedSessions(context);
    return { agentId: defaultAgent, wanted: name };
  }
}

export interface ClearCommand {
  readonly session?: string;
  readonly all?: boolean;
  readonly yes?: boolean;
}

/** `{ cleared: [{ key, sessionId, kind, file | why }] }`, each with the worst exit code of all. */
export async function clearSessions(context: CommandContext, options: ClearCommand): Promise<ExitCode> {
  const chosen = await toClear(context, options);
  if (!(await agreed(chosen, options))) {
    context.output.result({ cleared: [] }, () => "Nothing was cleared.");
    return EXIT.ok;
  }
  const cleared: WireCleared[] = [];
  const show = progressOn(context);
  for (const { key, agentId } of chosen) {
    show("clearing", cleared.length, chosen.length);
    cleared.push(await withActs(context, agentId, (acts) => acts.clear(key)));
  }
  show("clearing", chosen.length, chosen.length);
  context.output.result({ cleared }, (paint) =>
    cleared.length === 0
      ? "There are no conversations."
      : cleared.map((one) => `${printable(one.key)}  ${told(one, paint)}`).join("\n"),
  );
  const exits = cleared.map(exitOf);
  return exits.find((exit) => exit === EXIT.busy) ?? exits.find((exit) => exit !== EXIT.ok) ?? EXIT.ok;
}

async function toClear(context: CommandContext, { session, all }: ClearCommand): Promise<readonly StoredSession[]> {
  if ((session === undefined) === (all !== true)) {
    throw new CliError("usage", { what: "Name one conversation with --session NAME, or all with --all." });
  }
  if (session === undefined) return (await storedSessions(context)).rows;
  return [await findSession(context, session)];
}

/** Asks on a terminal. Without one, what concerns more than was named needs --yes. */
async function agreed(chosen: readonly StoredSession[], { session, all, yes }: ClearCommand): Promise<boolean> {
  if (yes === true) return true;
  const shared = chosen.find(({ key }) => session !== undefined && sharesMain(session, key));
  const keys = chosen.map(({ key }) => printable(key)).join(", ");
  const what = shared === undefined ? keys : `${keys}, which the owner's direct chats of all channels share`;
  if (process.stdin.isTTY === true)
    return chosen.length === 0 || (await ask(`Clear ${what}? The transcript is kept in the archive. [y/N] `));
  if (all === true || shared !== undefined) {
    throw new CliError("usage", { what: `This clears ${what}. Say --yes if that is meant.` });
  }
  return true;
}

/** A name of one channel's person that stands for the main conversation. */
function sharesMain(name: string, key: string): boolean {
  return /^[^:_]+_/.test(name) && /^agent:[^:]+:main$/.test(key);
}

/** `{ agents: [{ agentId, ...report }] }`; exit 3 when something that was due had to stay. */
export async function cleanup(context: CommandContext, options: { readonly dryRun?: boolean }): Promise<ExitCode> {
  const agents = agentsToRead(await settingsOf(homeOf(context)), context.options.agent);
  const reports = await cleanUp(context, agents, options.dryRun === true);
  context.output.result({ agents: reports }, (paint) =>
    reports.length === 0 ? "There are no conversations." : reports.map((report) => describe(report, paint)).join("\n"),
  );
  return reports.some(({ kept }) => kept.length > 0) ? EXIT.problems : EXIT.ok;
}

function describe(report: AgentCleanup, paint: Palette): string {
  const verb = report.dryRun ? "would go" : "put away";
  const went = [...report.archived, ...report.cleared];
  const others = [
    ...(report.orphans.length === 0 ? [] : [`${counted(report.orphans.length, "transcript")} without a row`]),
    ...(report.deleted.length === 0 ? [] : [`${counted(report.deleted.length, "old archive")} destroyed`]),
    ...(report.packed === 0 ? [] : [`${report.packed} packed`]),
  ];
  const all = [`${went.length} ${verb}`, ...others].join(", ");
  return [
    `${paint.bold(report.agentId)}  ${all}; live: ${sizeText(report.liveBytes)}, then ${sizeText(report.bytesAfter)}`,
    ...went.map(({ key, why }) => `  ${paint.green(verb)}  ${printable(key)} (${BECAUSE[why]})`),
    ...report.orphans.map(
      ({ file, key }) => `  ${paint.green(verb)}  ${printable(file)} (no row; it says ${printable(key)})`,
    ),
    ...report.deleted.map(
      ({ file, key }) =>
        `  ${paint.red(report.dryRun ? "would be destroyed" : "destroyed")}  ${printable(file)} (${printable(key)})`,
    ),
    ...report.kept.map(({ key, why }) => `  ${paint.yellow("stays")}  ${printable(key)}: ${WHY[why] ?? why}`),
    ...report.finished.map((key) => `  ${paint.dim("finished")}  ${printable(key)}: was interrupted before`),
  ].join("\n");
}
