/** A gateway in this process, on a temporary home, with a scripted model unless told otherwise. */
import { type Model, rehearsalModel } from "@holdfast/agent";
import { realWorld, type World } from "@holdfast/base";
import { onTestFinished } from "vitest";
import { checkText } from "../../src/config/check.ts";
import type { Config } from "../../src/config/schema.ts";
import { createGateway, type Gateway } from "../../src/gateway.ts";
import { type Log, silentLog } from "../../src/log.ts";
import { temporaryHome } from "./home.ts";

export function configOf(text = "{}"): Config {
  const checked = checkText(text, {});
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.config;
}

export interface GatewayUnderTest {
  readonly gateway: Gateway;
  readonly home: string;
}

export async function startGateway(
  options: {
    readonly home?: string;
    readonly config?: string;
    readonly model?: Model | "configured";
    readonly http?: boolean;
    readonly dashboardRoot?: string;
    readonly log?: Log;
    readonly world?: World;
  } = {},
): Promise<GatewayUnderTest> {
  const home = options.home ?? (await temporaryHome());
  const world = options.world ?? realWorld();
  const model = options.model ?? rehearsalModel(world);
  const gateway = createGateway({
    home,
    world,
    config: configOf(options.config),
    log: options.log ?? silentLog,
    dashboardRoot: options.dashboardRoot ?? null,
    http: options.http === true ? { host: "127.0.0.1", port: 0 } : null,
    ...(model === "configured" ? {} : { model: () => model }),
  });
  await gateway.start();
  onTestFinished(() => gateway.stop());
  return { gateway, home };
}
