/** `holdfast transcript ...`: a bare file, no gateway and no home. Reading never changes the file. */
import type { RequestReport } from "@holdfast/agent/internal";
import { type ContextOptions, openTranscript } from "@holdfast/sessions";
import {
  contextOfTranscript,
  type TranscriptReport,
  treeOfTranscript,
  verifyTranscript,
} from "@holdfast/sessions/internal";
import type { CommandContext } from "../context.ts";
import { drawContext } from "../context-view.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import type { Palette } from "../output.ts";
import { lastRequestLine } from "../request-view.ts";
import { drawTree } from "../tree-view.ts";
import { clip, counted } from "../table.ts";

export interface LimitOptions {
  readonly leaf?: string;
  readonly maxMessages?: number;
  readonly maxTokens?: number;
}

/** The report of interfaces.md; exit code 3 when the file is damaged. */
export async function verify({ output }: CommandContext, file: string): Promise<ExitCode> {
  const report = await verifyTranscript(file);
  output.result(report, (paint) => describeReport(file, report, paint));
  return report.ok ? EXIT.ok : EXIT.problems;
}

function describeReport(file: string, report: TranscriptReport, paint: Palette): string {
  const { damaged, gaps, duplicates, stale, noted, openCalls, header } = report;
  const found = [
    ...(header.state === "ok" ? [] : [`the header is ${header.state}`]),
    ...damaged.map(({ line, offset, bytes, why }) => `line ${line ?? "?"} (offset ${offset}, ${bytes} bytes): ${why}`),
    ...gaps.map((gap) => {
      const { id, parentId, bridgedTo } = gap;
      return `${at(gap)}: ${id} hangs on ${parentId}, which is not there; read after ${bridgedTo ?? "nothing"}`;
    }),
    ...duplicates.map(
      (one) => `${at(one)}: ${one.id} is there twice${one.identical ? ", both the same" : ", and they differ"}`,
    ),
    ...stale.map((one) => `${at(one)}: ${one.id} was written by a writer that had been replaced (generation ${one.g})`),
  ];
  const harmless = noted.map((one) => `harmless: ${one.what}, ${one.lines} times, first at ${at(one)}`);
  const state = report.ok ? paint.green("ok") : paint.red("damaged");
  const open = openCalls.length === 0 ? "" : `, ${counted(openCalls.length, "tool call")} without a result`;
  const first = `${state}  ${file}: ${report.entries} entries, leaf ${report.leaf ?? "none"}${open}`;
  const lines = [
    ...found.map((text) => `${paint.red("-")} ${text}`),
    ...harmless.map((text) => paint.dim(`- ${text}`)),
  ];
  return [first, ...lines.map((text) => `  ${text}`)].join("\n");
}

function at({ line, offset }: { readonly line: number | null; readonly offset: number }): string {
  return `line ${line ?? "?"} (offset ${offset})`;
}

/** `{ "leaf", "nodes", "report" }` */
export async function tree({ output }: CommandContext, file: string): Promise<ExitCode> {
  const found = await treeOfTranscript(file);
  output.result(found, (paint) =>
    drawTree(found.nodes, found.leaf, paint)
      .map((line) => clip(line, output.width))
      .join("\n"),
  );
  return EXIT.ok;
}

/** `{ "messages", "report", ... }`; of a conversation also `lastRequest`, the report of its last request, or null. */
export async function showContext(
  { output, world }: CommandContext,
  file: string,
  limits: LimitOptions,
  requests?: readonly RequestReport[],
): Promise<ExitCode> {
  const found = await contextOfTranscript(file, limitsOf(limits));
  const value = requests === undefined ? found : { ...found, lastRequest: requests.at(-1) ?? null };
  output.result(value, (paint) =>
    [drawContext(found, paint), lastRequestLine(requests ?? [], world.nowMs())]
      .filter((line) => line !== "")
      .join("\n"),
  );
  return EXIT.ok;
}

function limitsOf({ leaf, maxMessages, maxTokens }: LimitOptions): ContextOptions {
  return {
    ...(leaf === undefined ? {} : { leaf }),
    ...(maxMessages === undefined ? {} : { maxMessages }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
}

/** `{ "leaf", "from", "durable" }`: `leaf` is the new entry that marks the choice, `from` the entry chosen. */
export async function branch(context: CommandContext, file: string, entryId: string): Promise<ExitCode> {
  await using session = await openTranscript(file, {}, context.world);
  const { durable } = await session.branch(entryId);
  context.output.result(
    { leaf: session.leaf(), from: entryId, durable },
    () => `The next entry goes after ${entryId}.`,
  );
  return EXIT.ok;
}
