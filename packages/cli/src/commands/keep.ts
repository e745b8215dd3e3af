/**
 * `holdfast session export | import`, `holdfast migrate openclaw | pi`: histories out of this home and into it.
 * Invariants: `export` writes only the document to stdout; what is imported is only read.
 */
import { existsSync } from "node:fs";
import { formatSessionKey } from "@holdfast/sessions";
import {
  type ExportFormat,
  exportTranscript,
  flatOwner,
  importHistory,
  type MigrationReport,
  migrateOpenClaw,
  migratePi,
  openImportPlace,
} from "@holdfast/sessions/internal";
import type { CommandContext } from "../context.ts";
import { CliError, EXIT, type ExitCode } from "../errors.ts";
import { findSession, keyFor } from "../find.ts";
import { homeOf } from "../home.ts";
import { type Palette, printable } from "../output.ts";
import { progressOn } from "../progress.ts";
import { sessionsDirectory, settingsOf } from "../settings.ts";

export interface ExportCommand {
  readonly format: ExportFormat;
  readonly lang?: "en" | "zh";
}

export async function exportSession(context: CommandContext, name: string, options: ExportCommand): Promise<ExitCode> {
  const { key, agentId, file, row } = await findSession(context, name);
  const { label, channel } = row;
  const language = options.lang ?? (context.env.LANG?.startsWith("zh") === true ? "zh" : "en");
  const about = { key, agentId, ...row };
  const titled = label === undefined ? { title: key } : { title: label };
  const channelled = channel === undefined ? {} : { channel };
  for await (const piece of exportTranscript(file, {
    format: options.format,
    about,
    language,
    ...titled,
    ...channelled,
  })) {
    if (context.output.closed) break;
    await context.output.stream(piece);
  }
  return EXIT.ok;
}

/** `{ kind, key, sessionId, file, entries, added, changes }` */
export async function importSession(
  context: CommandContext,
  file: string,
  { session }: { readonly session?: string },
): Promise<ExitCode> {
  const home = homeOf(context);
  const { defaultAgent } = await settingsOf(home);
  const agent =
    context.options.agent === undefined || context.options.agent === "default" ? defaultAgent : context.options.agent;
  const owner = flatOwner(file);
  const flat = owner === null ? undefined : formatSessionKey(agent, owner.channel, "direct", owner.userId);
  const key = session === undefined ? flat : await keyFor(context, session);
  const agentOfKey = key?.split(":")[1] ?? agent;
  await using place = await openImportPlace(sessionsDirectory(home, agentOfKey), tell(context), context.world);
  const origin =
    owner === null || session !== undefined ? {} : { origin: { channel: owner.channel, chatType: "direct" } };
  const imported = await importHistory(place, { file, ...(key === undefined ? {} : { key }), ...origin });
  context.output.result(imported, (paint) => {
    const { kind, entries, added, changes } = imported;
    const more = changes.length === 0 ? "" : `; ${changes.length} change(s), see --json`;
    return `${paint.green(kind)}  ${printable(imported.key)}: ${added} of ${entries} entries are new${more}`;
  });
  return EXIT.ok;
}

/** The report of the migration; exit code 3 when something was skipped. */
export async function migrate(context: CommandContext, program: string, from: string): Promise<ExitCode> {
  if (!existsSync(from)) throw new CliError("usage", { what: `There is no folder ${from}.` });
  const home = homeOf(context);
  const { defaultAgent } = await settingsOf(home);
  const show = progressOn(context);
  const onProgress = ({ sessions, of }: { readonly sessions: number; readonly of: number }): void =>
    show("migrating", sessions, of);
  await using places = new AsyncDisposableStack();
  const placeFor = async (agentId: string) =>
    places.use(await openImportPlace(sessionsDirectory(home, agentId), tell(context), context.world));
  const agentId = context.options.agent ?? defaultAgent;
  const report =
    program === "pi"
      ? await migratePi(await placeFor(agentId), { from, agentId, onProgress })
      : await migrateOpenClaw({ from, placeFor, onProgress });
  context.output.result(report, (paint) => describe(report, home, paint));
  return report.skipped.length === 0 ? EXIT.ok : EXIT.problems;
}

function tell({ output }: CommandContext) {
  return ({ code, what }: { readonly code: string; readonly what: string }): void => output.note(`${code}: ${what}`);
}

function describe({ carried, archived, skipped, notes }: MigrationReport, home: string, paint: Palette): string {
  const fresh = carried.filter(({ kind }) => kind !== "unchanged").length;
  return [
    `${paint.green("carried over")}  ${carried.length} conversation(s) into ${home}, ${fresh} of them new or longer; ${archived.length} into the archive`,
    ...notes.map((note) => `  ${paint.dim("-")} ${printable(note)}`),
    ...skipped.map(({ source, why }) => `  ${paint.red("skipped")} ${printable(source)}: ${printable(why)}`),
  ].join("\n");
}
