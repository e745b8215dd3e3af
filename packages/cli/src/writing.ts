/**
 * Conversations changed by the command line: through the gateway that works on the home, else by the command itself.
 * Invariant: while a gateway works on the home its conversations are changed by it alone: it holds them open, and what it
 * knows would be out of date.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { AgentCleanup } from "@holdfast/gateway/internal";
import type { ConversationActs } from "@holdfast/gateway/wire";
import type { Sessions } from "@holdfast/sessions";
import type { CommandContext } from "./context.ts";
import { runningGateway } from "./door.ts";
import { homeOf } from "./home.ts";
import { remoteActs } from "./remote-acts.ts";
import { sessionsDirectory } from "./settings.ts";

/** What people do with the conversations of an agent. Throws what the acts throw. */
export async function withActs<T>(
  context: CommandContext,
  agentId: string,
  work: (acts: ConversationActs) => Promise<T>,
): Promise<T> {
  const gateway = await runningGateway(context);
  if (gateway !== null) return work(remoteActs(gateway, agentId));
  const { actsOn } = await import("@holdfast/gateway/internal");
  await using sessions = await sessionsOf(context, agentId);
  return await work(actsOn(sessions, { home: homeOf(context), world: context.world }));
}

/** The sessions of an agent, in this process: only while no gateway works on the home. */
export async function sessionsOf(context: CommandContext, agentId: string): Promise<Sessions> {
  const { openSessions } = await import("@holdfast/sessions");
  const onProblem = ({ code, what }: { readonly code: string; readonly what: string }): void =>
    context.output.note(`${code}: ${what}`);
  const directory = sessionsDirectory(homeOf(context), agentId);
  return openSessions({ directory, agentId, onProblem }, context.world);
}

/** Retention now, as it is configured, in the conversations of these agents. */
export async function cleanUp(
  context: CommandContext,
  agents: readonly string[],
  dryRun: boolean,
): Promise<readonly AgentCleanup[]> {
  const gateway = await runningGateway(context);
  if (gateway !== null) {
    const reports: AgentCleanup[] = [];
    for (const agentId of agents) reports.push(...(await gateway.cleanup<AgentCleanup>(agentId, dryRun)).agents);
    return reports;
  }
  const home = homeOf(context);
  const { loadConfig } = await import("@holdfast/gateway");
  const { cleanUpAgents, sqliteLanes } = await import("@holdfast/gateway/internal");
  const { retention } = (await loadConfig(home)).sessions;
  await using undo = new AsyncDisposableStack();
  const lanes = join(home, "lanes.sqlite");
  const store = existsSync(lanes) ? undo.adopt(sqliteLanes(lanes, context.world), (opened) => opened.close()) : null;
  const reports: AgentCleanup[] = [];
  for (const id of agents) {
    if (!existsSync(sessionsDirectory(home, id))) continue;
    await using sessions = await sessionsOf(context, id);
    reports.push(...(await cleanUpAgents([{ id, sessions }], { store, retention }, { agentId: null, dryRun })));
  }
  return reports;
}
