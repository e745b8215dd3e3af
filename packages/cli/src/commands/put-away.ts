/**
 * `holdfast session reset | clear | archive | restore | cleanup`: whole conversations put away, got back, ended.
 * Invariant: nothing is deleted; what was left as it was is named with the reason, and the exit code tells.
 */
import { CodedError, durationMs, sizeBytes } from "@holdfast/base";
import { type CleanupReport, type PutAway, RETENTION, type RetentionPolicy } from "@holdfast/sessions";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CommandContext } from "../context.ts";
import { CliError, EXIT, type ExitCode } from "../errors.ts";
import { findSession } from "../find.ts";
import { homeOf } from "../home.ts";
import { type Palette, printable } from "../output.ts";
import { Prompt } from "../prompt.ts";
import { settingsOf } from "../settings.ts";
import { type StoredSession, storedSessions } from "../stores.ts";
import { withSessions } from "../writing.ts";

const WHY: Readonly<Record<string, string>> = {
  running: "somebody works on it",
  pinned: "it is pinned",
  open_calls: "a tool call has no result yet",
  open_approvals: "an approval waits for an answer",
  changed: "it is being written to",
  missing: "it has no transcript",
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
  return withSessions(context, agentId, async ({ keep }) => {
    const { row, before } = await keep.reset(key, "reset");
    const value = { key, sessionId: row.sessionId, before };
    context.output.result(value, (paint) => `${printable(key)} begins anew. The one before: ${told(before, paint)}`);
    return EXIT.ok;
  });
}

/** `{ key, kind, file | why }`; exit 4 when somebody works on it, 3 when something of it is open. */
export async function archiveSession(context: CommandContext, name: string): Promise<ExitCode> {
  const { key, agentId } = await findSession(context, name);
  return withSessions(context, agentId, async ({ keep }) => {
    const outcome = await keep.archive(key);
    context.output.result({ key, ...outcome }, (paint) => `${printable(key)}  ${told(outcome, paint)}`);
    return exitOf(outcome);
  });
}

/** `{ key, sessionId }`. `name` may also be the id of a transcript that no row names; `as` gives it a key. */
export async function restoreSession(
  context: CommandContext,
  name: string,
  { as }: { readonly as?: string },
): Promise<ExitCode> {
  const { agentId, wanted } = await restorable(context, name);
  return withSessions(context, agentId, async ({ keep }) => {
    const { key, row } = await keep.restore(wanted, as);
    context.output.result({ key, sessionId: row.sessionId }, (paint) => `${paint.green("back")}  ${printable(key)}`);
    return EXIT.ok;
  });
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
  const cleared: (PutAway & { readonly key: string; readonly sessionId: string })[] = [];
  for (const { key, agentId, row } of chosen) {
    const outcome = await withSessions(context, agentId, ({ keep }) => keep.clear(key));
    cleared.push({ key, sessionId: row.sessionId, ...outcome });
  }
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

async function ask(question: string): Promise<boolean> {
  using prompt = new Prompt({ input: process.stdin, terminal: process.stderr, prompt: question });
  for await (const line of prompt.lines()) return /^(y|yes|j|ja|是)$/i.test(line);
  return false;
}

/** `{ agents: [{ agentId, ...report }] }`; exit 3 when something that was due had to stay. */
export async function cleanup(context: CommandContext, options: { readonly dryRun?: boolean }): Promise<ExitCode> {
  const home = homeOf(context);
  const { policy, isReport } = await retentionOf(home);
  const dryRun = options.dryRun === true || isReport;
  const settings = await settingsOf(home);
  const asked = context.options.agent;
  const agents = settings.agents.filter((id) => asked === undefined || id === asked);
  const reports: (CleanupReport & { readonly agentId: string })[] = [];
  for (const agentId of agents) {
    if (!existsSync(join(home, "agents", agentId, "sessions"))) continue;
    const report = await withSessions(context, agentId, ({ keep }) => keep.cleanup(policy, { dryRun }));
    reports.push({ agentId, ...report });
  }
  context.output.result({ agents: reports }, (paint) => reports.map((report) => describe(report, paint)).join("\n"));
  return reports.some(({ kept }) => kept.length > 0) ? EXIT.problems : EXIT.ok;
}

async function retentionOf(home: string): Promise<{ readonly policy: RetentionPolicy; readonly isReport: boolean }> {
  if (!existsSync(join(home, "holdfast.json"))) return { policy: RETENTION, isReport: false };
  const { loadConfig } = await import("@holdfast/gateway");
  const { maxAge, maxSize, mode } = (await loadConfig(home)).sessions.retention;
  return {
    policy: { ...RETENTION, maxAgeMs: durationMs(maxAge), maxBytes: sizeBytes(maxSize) },
    isReport: mode === "report",
  };
}

function describe(report: CleanupReport & { readonly agentId: string }, paint: Palette): string {
  const verb = report.dryRun ? "would be put away" : "put away";
  const went = [...report.archived, ...report.cleared];
  return [
    `${paint.bold(report.agentId)}  ${went.length} ${verb}, ${megabytes(report.liveBytes)} live before, ${megabytes(report.bytesAfter)} after; ${report.orphans.length} without a row; ${report.packed} packed`,
    ...went.map(({ key, why }) => `  ${paint.green(verb)}  ${printable(key)} (${why})`),
    ...report.orphans.map(
      ({ file, key }) => `  ${paint.green(verb)}  ${printable(file)} (no row; it says ${printable(key)})`,
    ),
    ...report.kept.map(({ key, why }) => `  ${paint.yellow("stays")}  ${printable(key)}: ${WHY[why] ?? why}`),
    ...report.finished.map((key) => `  ${paint.dim("finished")}  ${printable(key)}: was interrupted before`),
  ].join("\n");
}

function megabytes(bytes: number): string {
  return `${(bytes / (1024 * 1024)).toFixed(1)} MB`;
}
