/** `holdfast session list`: what conversations there are. Its imports are few on purpose: this command's start is measured. */
import type { CommandContext } from "../context.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { printable } from "../output.ts";
import { type StoredSession, storedSessions } from "../stores.ts";
import { ago, columns } from "../table.ts";

/** `{ "sessions": [{ key, agentId, file, ...row }] }`, newest first. */
export async function listSessions(context: CommandContext): Promise<ExitCode> {
  const { rows, home } = await storedSessions(context);
  const value = { sessions: rows.map(({ key, agentId, file, row }) => ({ key, agentId, file, ...row })) };
  context.output.result(value, (paint) => {
    if (rows.length === 0) return `No conversations in ${home} yet. \`holdfast chat\` begins one.`;
    const lines = rows.map((stored) => cells(stored, context.world.nowMs()));
    return columns([["KEY", "CHANGED", "STATUS", "SESSION ID"].map(paint.dim), ...lines]);
  });
  return EXIT.ok;
}

function cells({ key, row }: StoredSession, nowMs: number): readonly string[] {
  const name = row.label === undefined ? key : `${key} (${row.label})`;
  return [printable(name), ago(row.updatedAt, nowMs), row.status ?? "-", row.sessionId];
}
