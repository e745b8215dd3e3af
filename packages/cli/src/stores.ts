/**
 * The conversations of a home, read without a gateway. Directories that do not exist are not made.
 * `default` names the default agent unless an agent has that id.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { SessionRow } from "@holdfast/sessions";
import { listingOf } from "@holdfast/sessions/listing";
import type { CommandContext } from "./context.ts";
import { CliError } from "./errors.ts";
import { homeOf } from "./home.ts";
import type { Named } from "./names.ts";
import { type Settings, sessionsDirectory, settingsOf } from "./settings.ts";

export interface StoredSession extends Named {
  /** The sessions directory of its agent. */
  readonly directory: string;
  /** Path of the transcript as the row names it; it may not exist yet. */
  readonly file: string;
  readonly row: SessionRow;
}

export interface StoredSessions {
  readonly home: string;
  readonly defaultAgent: string;
  /** Newest first. */
  readonly rows: readonly StoredSession[];
}

/** Throws `agent_unknown`. */
export function agentsToRead(settings: Settings, asked: string | undefined): readonly string[] {
  if (asked === undefined) return settings.agents;
  if (settings.agents.includes(asked)) return [asked];
  if (asked === "default") return [settings.defaultAgent];
  throw new CliError("agent_unknown", { agent: asked, known: settings.agents.join(", ") });
}

async function rowsOf(directory: string, agentId: string, context: CommandContext): Promise<readonly StoredSession[]> {
  if (!existsSync(directory)) return [];
  const { sessions, problems } = await listingOf(directory);
  for (const { code, what } of problems) context.output.note(`${directory}: ${code}: ${what}`);
  return sessions.map(({ key, row }) => {
    return { key, sessionId: row.sessionId, agentId, directory, file: join(directory, row.sessionFile), row };
  });
}

/** Throws `agent_unknown` and whatever reading configuration or index throws. */
export async function storedSessions(context: CommandContext): Promise<StoredSessions> {
  const home = homeOf(context);
  const settings = await settingsOf(home);
  const agents = agentsToRead(settings, context.options.agent);
  const lists = await Promise.all(agents.map((id) => rowsOf(sessionsDirectory(home, id), id, context)));
  const rows = lists.flat().sort((a, b) => (b.row.updatedAt ?? 0) - (a.row.updatedAt ?? 0));
  return { home, defaultAgent: context.options.agent === undefined ? settings.defaultAgent : agents[0]!, rows };
}
