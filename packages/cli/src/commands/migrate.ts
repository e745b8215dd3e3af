/**
 * `holdfast migrate openclaw | pi`: a history brought over, with the settings that belong to it.
 * Invariants: the source is only read; a `holdfast.json` that is there is never changed; killed, it is just run again.
 */
import { existsSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, readText } from "@holdfast/base";
import type { OpenClawSettings } from "@holdfast/gateway/internal";
import { type MigrationReport, migrateOpenClaw, migratePi, openImportPlace } from "@holdfast/sessions/internal";
import type { CommandContext } from "../context.ts";
import { CliError, EXIT, type ExitCode } from "../errors.ts";
import { homeOf } from "../home.ts";
import { type Palette, printable } from "../output.ts";
import { progressOn } from "../progress.ts";
import { sessionsDirectory, settingsOf } from "../settings.ts";
import { counted } from "../table.ts";

/** `file`: the `holdfast.json` that has them; null: one was there and says otherwise, so they are only proposed. */
type Settings = OpenClawSettings & { readonly file: string | null };

/** `{ carried, archived, left, skipped, notes, settings }`; exit code 3 when a conversation could not be carried over. */
export async function migrate(context: CommandContext, program: string, from: string): Promise<ExitCode> {
  if (!existsSync(from)) throw new CliError("usage", { what: `There is no folder ${from}.` });
  const home = homeOf(context);
  const { defaultAgent } = await settingsOf(home);
  const show = progressOn(context);
  const onProgress = ({ sessions, of }: { readonly sessions: number; readonly of: number }): void =>
    show("migrating", sessions, of);
  await using places = new AsyncDisposableStack();
  const onProblem = ({ code, what }: { readonly code: string; readonly what: string }): void =>
    context.output.note(`${code}: ${what}`);
  const placeFor = async (agentId: string) =>
    places.use(await openImportPlace(sessionsDirectory(home, agentId), onProblem, context.world));
  const { agent } = context.options;
  const agentId = agent === undefined || agent === "default" ? defaultAgent : agent;
  const report =
    program === "pi"
      ? await migratePi(await placeFor(agentId), { from, agentId, onProgress })
      : await migrateOpenClaw({ from, placeFor, onProgress });
  const settings = program === "pi" ? null : await carrySettings(home, join(from, "openclaw.json"));
  context.output.result({ ...report, settings }, (paint) => describe(report, { home, settings }, paint));
  return report.skipped.length === 0 ? EXIT.ok : EXIT.problems;
}

/** Null where there are no settings. */
async function carrySettings(home: string, source: string): Promise<Settings | null> {
  if (!existsSync(source)) return null;
  const { settingsFromOpenClaw } = await import("@holdfast/gateway/internal");
  const settings = settingsFromOpenClaw(await readText(source));
  return { ...settings, file: settings.proposal === null ? null : await propose(home, settings.proposal) };
}

async function propose(home: string, text: string): Promise<string | null> {
  const file = join(home, "holdfast.json");
  await mkdir(home, { recursive: true, mode: 0o700 });
  try {
    await using handle = await open(file, "wx", 0o600);
    await handle.writeFile(text);
    await handle.sync();
    return file;
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    return (await readText(file)) === text ? file : null;
  }
}

/** Items of one kind that are listed for people; with --json all are. */
const LISTED_MAX = 20;

function describe(
  { carried, archived, left, skipped, notes }: MigrationReport,
  { home, settings }: { readonly home: string; readonly settings: Settings | null },
  paint: Palette,
): string {
  const fresh = carried.filter(({ kind }) => kind !== "unchanged").length;
  return [
    `${paint.green("carried over")}  ${counted(carried.length, "conversation")} into ${home}, ${fresh} of them new or longer`,
    ...(archived.length === 0
      ? []
      : [`${paint.green("archived")}  ${counted(archived.length, "transcript")} that no conversation uses any more`]),
    ...(settings === null ? [] : describeSettings(settings, paint)),
    ...listed(notes, (note) => `  ${paint.dim("-")} ${printable(note)}`),
    ...(left.length === 0 ? [] : [paint.dim(`left  ${counted(left.length, "file")} that hold no conversation`)]),
    ...listed(skipped, ({ source, why }) => `  ${paint.red("skipped")} ${printable(source)}: ${printable(why)}`),
  ].join("\n");
}

function describeSettings({ carried, left, notes, file, proposal }: Settings, paint: Palette): readonly string[] {
  const where = file === null ? "put these into holdfast.json yourself, it is there and stays as it is" : `in ${file}`;
  const head =
    carried.length === 0 ? [] : [`${paint.green("settings")}  ${counted(carried.length, "setting")}: ${where}`];
  return [
    ...head,
    ...listed(carried, ({ from, to }) => `  ${printable(from)} → ${printable(to)}`),
    ...(file === null && proposal !== null ? [proposal.trimEnd()] : []),
    ...listed(left, ({ from, why }) => `  ${paint.yellow("not carried")} ${printable(from)}: ${printable(why)}`),
    ...listed(notes, (note) => `  ${paint.dim("-")} ${printable(note)}`),
  ];
}

function listed<T>(items: readonly T[], line: (item: T) => string): readonly string[] {
  const rest = items.length - LISTED_MAX;
  return [...items.slice(0, LISTED_MAX).map(line), ...(rest > 0 ? [`  and ${rest} more (--json lists all)`] : [])];
}
