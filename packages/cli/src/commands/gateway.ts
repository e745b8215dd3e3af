/**
 * `holdfast gateway`: runs here until it is told to stop. The first SIGTERM, SIGINT or SIGHUP ends it gracefully, a second one at once.
 * Invariant: an address is printed only when the gateway answers there.
 */
import { openLog } from "@holdfast/gateway";
import type { CommandContext } from "../context.ts";
import { makeGateway } from "../door.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { homeOf } from "../home.ts";

const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/** Resolves at the first signal. The handlers are gone then, so the next signal does what the system does by default. */
function firstSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      for (const name of SIGNALS) process.off(name, stop);
      resolve(signal);
    };
    for (const name of SIGNALS) process.on(name, stop);
  });
}

/** With --json one line `{ "address", "signIn", "home", "pid" }` once it answers. Throws `home_busy` (exit 4) and the like, `home_lost` when it had to stop. */
export async function runGateway(context: CommandContext, options: { readonly port?: number }): Promise<ExitCode> {
  const told = firstSignal();
  const gateway = await makeGateway(context, await openLog(context.env), options.port);
  await gateway.start();
  const address = gateway.address ?? "";
  const signIn = gateway.signInLink() ?? "";
  context.output.result({ address, signIn, home: homeOf(context), pid: process.pid }, (paint) =>
    [
      `${paint.green("●")} Holdfast is running at ${paint.bold(address)}   (home ${homeOf(context)}, process ${process.pid})`,
      `  Sign in once with this link: ${paint.cyan(signIn)}`,
      paint.dim("  Ctrl-C stops it; what was accepted is kept."),
    ].join("\n"),
  );
  const signal = await Promise.race([told, gateway.lost]);
  if (typeof signal !== "string") throw signal;
  context.output.note(
    `${signal}: finishing what runs, then stopping. Once more stops at once; nothing is lost either way.`,
  );
  await gateway.stop();
  return EXIT.ok;
}
