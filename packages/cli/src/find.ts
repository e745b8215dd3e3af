/** From a name a person gave to a conversation of this home. */
import type { CommandContext } from "./context.ts";
import { keyToWrite, resolveName } from "./names.ts";
import { type StoredSession, storedSessions } from "./stores.ts";

/** The conversation a name means. Throws `bad_name`, `name_unknown`, `name_ambiguous`. */
export async function findSession(context: CommandContext, name: string): Promise<StoredSession> {
  const stored = await storedSessions(context);
  const named = resolveName(name, stored.rows, stored.defaultAgent);
  return stored.rows.find((row) => row.key === named.key && row.agentId === named.agentId)!;
}

/** The key to write to; it may be new. Throws as `findSession` does. */
export async function keyFor(context: CommandContext, name: string): Promise<string> {
  const stored = await storedSessions(context);
  return keyToWrite(name, stored.rows, stored.defaultAgent);
}
