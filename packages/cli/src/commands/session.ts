/** `holdfast session show | tree | context`: one conversation of this home, read from its transcript. */
import { existsSync } from "node:fs";
import { contextOfTranscript } from "@holdfast/sessions/internal";
import type { CommandContext } from "../context.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { type Palette, printable } from "../output.ts";
import { findSession } from "../find.ts";
import type { StoredSession } from "../stores.ts";
import { ago, columns, counted } from "../table.ts";
import { type LimitOptions, showContext, tree } from "./transcript.ts";

export interface Summary {
  readonly leaf: string | null;
  readonly messages: number;
  readonly approximateTokens: number;
}

/** `{ key, agentId, file, ...row, context: { leaf, messages, approximateTokens } | null }` */
export async function showSession(context: CommandContext, name: string): Promise<ExitCode> {
  const found = await findSession(context, name);
  const { key, agentId, file, row } = found;
  const summary = await summaryOf(file);
  context.output.result({ key, agentId, file, ...row, context: summary }, (paint) =>
    describe(found, summary, { nowMs: context.world.nowMs(), paint }),
  );
  return EXIT.ok;
}

/** Null for a conversation that was begun and has no transcript yet. */
export async function summaryOf(file: string): Promise<Summary | null> {
  if (!existsSync(file) && !existsSync(`${file}.gz`)) return null;
  const { leaf, messages, approximateTokens } = (await contextOfTranscript(file)).report;
  return { leaf, messages, approximateTokens };
}

function describe(
  { key, file, row }: StoredSession,
  summary: Summary | null,
  { nowMs, paint }: { readonly nowMs: number; readonly paint: Palette },
): string {
  const facts: readonly (readonly [name: string, value: string])[] = [
    ["key", printable(key)],
    ["session id", row.sessionId],
    ["transcript", file],
    ["status", row.status ?? "-"],
    ["begun", ago(row.sessionStartedAt, nowMs)],
    ["last spoken to", ago(row.lastInteractionAt, nowMs)],
    ["changed", ago(row.updatedAt, nowMs)],
    ["leaf", summary?.leaf ?? "-"],
    [
      "context",
      summary === null ? "-" : `${counted(summary.messages, "message")}, about ${summary.approximateTokens} tokens`,
    ],
  ];
  return columns(facts.map(([title, value]) => [paint.dim(title), value]));
}

export async function treeOfSession(context: CommandContext, name: string): Promise<ExitCode> {
  return tree(context, (await findSession(context, name)).file);
}

export async function contextOfSession(
  context: CommandContext,
  name: string,
  { request, ...limits }: LimitOptions & { readonly request?: number | "last" },
): Promise<ExitCode> {
  const found = await findSession(context, name);
  const { reportsOf, showRequest } = await import("./request.ts");
  if (request !== undefined) return showRequest(context, found, request);
  return showContext(context, found.file, limits, await reportsOf(found.file));
}
