/** `holdfast transcript repair | convert FILE`: a sound transcript beside the old file, and what had to be changed. */
import { convertTranscript, type RepairReport, repairTranscript } from "@holdfast/sessions/internal";
import type { CommandContext } from "../context.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import type { Palette } from "../output.ts";
import { progressOn } from "../progress.ts";

export interface RewriteOptions {
  /** Where to write instead of beside the file. */
  readonly output?: string;
}

/** Changes that are listed for people; with --json all are. */
const LISTED_MAX = 40;

/** `{ file, repaired, damaged, entries, changes }`; `repaired` is null when nothing had to be done. */
export async function repair(context: CommandContext, file: string, options: RewriteOptions): Promise<ExitCode> {
  const { output, world } = context;
  const report = await repairTranscript(file, rewriteOptions(context, options, "repairing"), world);
  output.result(report, (paint) => {
    if (report.repaired !== null) return describe(report, paint);
    return `${paint.green("ok")}  ${file} needs no repair; nothing was written.`;
  });
  return EXIT.ok;
}

/** The same shape; `repaired` is the new file. */
export async function convert(context: CommandContext, file: string, options: RewriteOptions): Promise<ExitCode> {
  const { output, world } = context;
  const report = await convertTranscript(file, rewriteOptions(context, options, "converting"), world);
  output.result(report, (paint) => describe(report, paint));
  return EXIT.ok;
}

function rewriteOptions(context: CommandContext, { output }: RewriteOptions, doing: string) {
  const show = progressOn(context);
  const onProgress = ({ bytes, of }: { readonly bytes: number; readonly of: number }): void => show(doing, bytes, of);
  return { onProgress, ...(output === undefined ? {} : { target: output }) };
}

function describe({ file, repaired, damaged, entries, changes }: RepairReport, paint: Palette): string {
  const lines = changes.slice(0, LISTED_MAX).map(({ line, offset, what, why }) => {
    const where = line === null ? "the file" : `line ${line} (offset ${offset})`;
    return `  ${paint.yellow("~")} ${where}: ${what.replaceAll("_", " ")}: ${why}`;
  });
  const rest = changes.length - lines.length;
  return [
    `${paint.green("written")}  ${repaired}: ${entries} entries; ${file} is as it was`,
    ...(damaged === null ? [] : [`  bytes that could not be used: ${damaged}`]),
    ...lines,
    ...(rest > 0 ? [`  and ${rest} more (--json lists all)`] : []),
  ].join("\n");
}
