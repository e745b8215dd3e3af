/**
 * From a name a person gave to a conversation of this home.
 * Invariant: a row that names a file outside its sessions directory, also through a link, is refused: an index is data.
 */
import { existsSync, realpathSync } from "node:fs";
import { resolve, sep } from "node:path";
import { SessionError } from "@holdfast/sessions";
import type { CommandContext } from "./context.ts";
import { explainName, keyToWrite, type NamedBy } from "./names.ts";
import { type StoredSession, storedSessions } from "./stores.ts";

/** The conversation a name means. Throws `bad_name`, `name_unknown`, `name_ambiguous`, `path_outside`. */
export async function findSession(context: CommandContext, name: string): Promise<StoredSession> {
  return (await explainSession(context, name)).found;
}

function checkInside(file: string, directory: string): void {
  const real = existsSync(file) ? realpathSync(file) : resolve(file);
  const root = existsSync(file) ? realpathSync(directory) : resolve(directory);
  if (!real.startsWith(root + sep)) {
    throw new SessionError("path_outside", { path: file, directory });
  }
}

/** The same, and how the name was understood. */
export async function explainSession(
  context: CommandContext,
  name: string,
): Promise<{ readonly found: StoredSession; readonly by: NamedBy }> {
  const stored = await storedSessions(context);
  const { named, by } = explainName(name, stored.rows, stored.defaultAgent);
  const found = stored.rows.find((row) => row.key === named.key && row.agentId === named.agentId)!;
  checkInside(found.file, found.directory);
  return { found, by };
}

/** The key to write to; it may be new. Throws as `findSession` does. */
export async function keyFor(context: CommandContext, name: string): Promise<string> {
  const stored = await storedSessions(context);
  return keyToWrite(name, stored.rows, stored.defaultAgent);
}
