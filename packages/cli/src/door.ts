/**
 * The way to a gateway for commands that write: the one that runs on this home, else one of our own for as long as the command runs.
 * Invariant: at most one gateway works on a home; its own lock decides, this file only looks first.
 */
import { fileURLToPath } from "node:url";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { createGateway, findGateway, type Gateway, type Log, loadConfig, openLog, silentLog } from "@holdfast/gateway";
import { GatewayClient } from "./client.ts";
import type { CommandContext } from "./context.ts";
import { CliError } from "./errors.ts";
import { homeOf } from "./home.ts";

/** Where the built web page is; the gateway says so plainly when nothing is there. */
export function dashboardRoot(): string {
  try {
    const manifest = createRequire(import.meta.url).resolve("@holdfast/dashboard/package.json");
    return join(dirname(manifest), "dist");
  } catch {
    return fileURLToPath(new URL("../../dashboard/dist", import.meta.url));
  }
}

/** A gateway on this home, made and not started. Throws what reading the configuration throws. */
export async function makeGateway(context: CommandContext, log: Log, port?: number): Promise<Gateway> {
  const home = homeOf(context);
  const config = await loadConfig(home);
  const http = { host: config.gateway.host, port: port ?? config.gateway.port };
  return createGateway({ home, config, world: context.world, log, dashboardRoot: dashboardRoot(), http });
}

/** The running gateway of this home, or null. Throws `gateway_not_ready` when one is starting or stopping. */
export async function runningGateway(context: CommandContext): Promise<GatewayClient | null> {
  const home = homeOf(context);
  const running = await findGateway(home);
  if (running === null) return null;
  const token = (await loadConfig(home)).gateway.auth.token ?? running.token;
  if (running.address === null || token === null) throw new CliError("gateway_not_ready", { home });
  return new GatewayClient({ address: running.address, token });
}

/** `own`: a gateway that lives only as long as the command. */
export type Door = "running" | "own";

/**
 * Does `work` with the running gateway, or with one of our own that is stopped afterwards. Our own says nothing unless
 * HOLDFAST_LOG asks for it: its log would stand between the lines of the answer.
 */
export async function withGateway<T>(
  context: CommandContext,
  work: (client: GatewayClient, door: Door) => Promise<T>,
): Promise<T> {
  const running = await runningGateway(context);
  if (running !== null) return work(running, "running");
  const log = context.env.HOLDFAST_LOG === undefined ? silentLog : await openLog(context.env);
  await using own = await makeGateway(context, log, 0);
  await own.start();
  const client = await runningGateway(context);
  if (client === null) throw new CliError("gateway_not_ready", { home: homeOf(context) });
  return await work(client, "own");
}
