/**
 * `holdfast session why`: which conversation a name means, and what a message would find there.
 * Invariant: looking changes nothing; the verdict is the one of the look-up itself, not a second opinion.
 */
import { existsSync } from "node:fs";
import { CodedError } from "@holdfast/base";
import { loadConfig } from "@holdfast/gateway";
import {
  explainLookUp,
  type LookUp,
  lookUp,
  machineTimezone,
  type ResetPolicy,
  resetPolicy,
  type SessionRow,
} from "@holdfast/sessions";
import type { CommandContext } from "../context.ts";
import { runningGateway } from "../door.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { explainSession, keyFor } from "../find.ts";
import { homeOf } from "../home.ts";
import { type Palette, printable } from "../output.ts";
import { type Summary, summaryOf } from "./session.ts";
import { ago, columns, counted } from "../table.ts";

interface Why {
  readonly name: string;
  readonly key: string;
  /** How the name was understood. */
  readonly by: string;
  readonly row: SessionRow | null;
  readonly lookUp: LookUp;
  readonly policy: ResetPolicy;
  /** The look-up as a sentence. */
  readonly reason: string;
  /** Of the transcript; null without a row. */
  readonly file: string | null;
  readonly place: "live" | "archived" | "not there";
  readonly context: Summary | null;
}

/** `{ name, key, by, row, lookUp, policy, reason, file, place, context: { leaf, messages, approximateTokens } | null }` */
export async function why(context: CommandContext, name: string): Promise<ExitCode> {
  const found = await explained(context, name);
  const value = await whyOf(context, name, found);
  context.output.result(value, (paint) => described(value, context.world.nowMs(), paint));
  return EXIT.ok;
}

interface Found {
  readonly key: string;
  readonly by: string;
  readonly row?: SessionRow;
  readonly file?: string;
}

/** A whole key that has no conversation yet is an answer too. */
async function explained(context: CommandContext, name: string): Promise<Found> {
  try {
    const { found, by } = await explainSession(context, name);
    return { key: found.key, by, row: found.row, file: found.file };
  } catch (error) {
    if (!(error instanceof CodedError) || error.code !== "name_unknown") throw error;
    return { key: await keyFor(context, name), by: "its key" };
  }
}

async function whyOf(context: CommandContext, name: string, { key, by, row, file }: Found): Promise<Why> {
  const { sessions } = await loadConfig(homeOf(context));
  const policy = resetPolicy(sessions, { key, row }, machineTimezone());
  const isThere = file !== undefined && (existsSync(file) || existsSync(`${file}.gz`));
  const facts = {
    key,
    row,
    policy,
    by: "person",
    nowMs: context.world.nowMs(),
    // Only a gateway works on conversations.
    leaseLive: (await runningGateway(context)) !== null,
    fileThere: isThere,
  } as const;
  const found = lookUp(facts);
  const place = !isThere ? "not there" : row?.archivedAt === undefined ? "live" : "archived";
  return {
    name,
    key,
    by,
    row: row ?? null,
    lookUp: found,
    policy,
    reason: explainLookUp(found, policy),
    file: file ?? null,
    place,
    context: isThere && file !== undefined ? await summaryOf(file) : null,
  };
}

const PLACE = {
  live: "",
  archived: " (in the archive; the next message brings it back)",
  "not there": " (not there yet)",
} as const;

function described({ name, key, by, row, reason, file, place, context }: Why, nowMs: number, paint: Palette): string {
  const facts: readonly (readonly [string, string])[] = [
    ["name", `${printable(name)}: ${by}`],
    ["key", printable(key)],
    ["row", row === null ? "none" : `session id ${row.sessionId}, changed ${ago(row.updatedAt, nowMs)}`],
    ["look-up", reason],
    ["transcript", file === null ? "-" : `${file}${PLACE[place]}`],
    ["leaf", context?.leaf ?? "-"],
    [
      "context",
      context === null ? "-" : `${counted(context.messages, "message")}, about ${context.approximateTokens} tokens`,
    ],
  ];
  return columns(facts.map(([title, value]) => [paint.dim(title), value]));
}
