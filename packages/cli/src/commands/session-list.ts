/** `holdfast session list`: what conversations there are. Its imports are few on purpose: this command's start is measured. */
import type { CommandContext } from "../context.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { printable } from "../output.ts";
import { type StoredSession, storedSessions } from "../stores.ts";
import { ago, clip, columns, pad, widthOf } from "../table.ts";

/** `{ "sessions": [{ key, agentId, file, ...row }] }`, newest first. */
export async function listSessions(context: CommandContext): Promise<ExitCode> {
  const { rows, home } = await storedSessions(context);
  const value = { sessions: rows.map(({ key, agentId, file, row }) => ({ key, agentId, file, ...row })) };
  context.output.result(value, (paint) => {
    if (rows.length === 0) return `No conversations in ${home} yet. \`holdfast chat\` begins one.`;
    const keyWidth = Math.min(KEY_CELLS_MAX, Math.max(...rows.map(({ key }) => widthOf(key))));
    const lines = rows.map((stored) => cells(stored, context.world.nowMs(), keyWidth));
    const head = ["CHANGED", "STATUS", `${pad("KEY", keyWidth)}  NAME`];
    const table = columns([head.map(paint.dim), ...lines]);
    return table.replace(/.+/g, (line) => clip(line.trimEnd(), context.output.width));
  });
  return EXIT.ok;
}

/** Longer keys push their own name aside, and no other. */
const KEY_CELLS_MAX = 40;

function cells({ key, row }: StoredSession, nowMs: number, keyWidth: number): readonly string[] {
  const status = row.archivedAt === undefined ? (row.status ?? "-") : "archived";
  return [ago(row.updatedAt, nowMs), status, `${pad(printable(key), keyWidth)}  ${printable(row.label ?? "")}`];
}
