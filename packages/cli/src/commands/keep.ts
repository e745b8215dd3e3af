/**
 * `holdfast session export | import`: histories out of this home and into it.
 * Invariants: `export` writes only the document to stdout; what is imported is only read.
 */
import { formatSessionKey } from "@holdfast/sessions";
import {
  type ExportFormat,
  exportTranscript,
  flatOwner,
  importHistory,
  openImportPlace,
} from "@holdfast/sessions/internal";
import type { CommandContext } from "../context.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { findSession, keyFor } from "../find.ts";
import { homeOf } from "../home.ts";
import { printable } from "../output.ts";
import { sessionsDirectory, settingsOf } from "../settings.ts";
import { counted } from "../table.ts";

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
    const more = changes.length === 0 ? "" : `; ${counted(changes.length, "change")}, see --json`;
    return `${paint.green(kind)}  ${printable(imported.key)}: ${added} of ${counted(entries, "entry", "entries")} new${more}`;
  });
  return EXIT.ok;
}

function tell({ output }: CommandContext) {
  return ({ code, what }: { readonly code: string; readonly what: string }): void => output.note(`${code}: ${what}`);
}
