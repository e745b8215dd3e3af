/**
 * Conversations opened for writing by the command line itself.
 * Invariant: never while a gateway works on the home: it holds conversations open, and what it knows would be out of date.
 */
import type { Sessions } from "@holdfast/sessions";
import type { CommandContext } from "./context.ts";
import { CliError } from "./errors.ts";
import { homeOf } from "./home.ts";
import { sessionsDirectory } from "./settings.ts";

/** Throws `gateway_runs` (exit 4). */
export async function withSessions<T>(
  context: CommandContext,
  agentId: string,
  work: (sessions: Sessions) => Promise<T>,
): Promise<T> {
  const home = homeOf(context);
  const { findGateway } = await import("@holdfast/gateway");
  if ((await findGateway(home)) !== null) throw new CliError("gateway_runs", { home });
  const { openSessions } = await import("@holdfast/sessions");
  const onProblem = ({ code, what }: { readonly code: string; readonly what: string }): void =>
    context.output.note(`${code}: ${what}`);
  await using sessions = await openSessions(
    { directory: sessionsDirectory(home, agentId), agentId, onProblem },
    context.world,
  );
  return await work(sessions);
}
