/**
 * A real gateway as a child process, for campaigns that kill it: the same command line that people use, over real files.
 * Invariant: what a campaign knows of the child comes from its socket, its exit and its files, never from inside it.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const MAIN = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));
export const CAMPAIGN_TOKEN = "campaign-token-0123456789abcdef0123456789";

/** Writes a home whose only model is the given server. */
export async function writeCampaignHome(home: string, modelUrl: string): Promise<void> {
  await mkdir(home, { recursive: true, mode: 0o700 });
  const config = {
    agents: {
      defaults: { workspace: join(home, "workspace"), model: { primary: "campaign/campaign" }, tools: { approve: [] } },
    },
    models: {
      providers: {
        campaign: {
          api: "openai-completions",
          baseUrl: modelUrl,
          apiKey: "none",
          models: [{ id: "campaign", contextWindow: 100_000, maxTokens: 4096 }],
        },
      },
    },
    gateway: { port: 0, auth: { token: CAMPAIGN_TOKEN } },
  };
  await writeFile(join(home, "holdfast.json"), JSON.stringify(config, null, 2), { mode: 0o600 });
}

export interface GatewayChild {
  /** The printed address, or null when the process ended before it printed one. */
  readonly address: Promise<string | null>;
  /** How it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Everything printed so far, both streams. */
  output(): string;
  kill(signal: NodeJS.Signals): void;
}

/** Starts `holdfast gateway` on a home. `fault` and `trace` are explained in base/src/points.ts. */
export function startGatewayChild(
  home: string,
  faults: { readonly fault?: string; readonly trace?: string } = {},
): GatewayChild {
  const child: ChildProcess = spawn(process.execPath, ["--conditions=holdfast-src", MAIN, "gateway", "--home", home], {
    env: {
      ...process.env,
      HOLDFAST_LOG: "warn",
      ...(faults.fault === undefined ? {} : { HOLDFAST_FAULT: faults.fault }),
      ...(faults.trace === undefined ? {} : { HOLDFAST_FAULT_TRACE: faults.trace }),
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const printed: string[] = [];
  const ended = once(child, "exit").then(([code, signal]) => ({ code, signal }));
  const address = new Promise<string | null>((resolve) => {
    const look = (text: Buffer): void => {
      printed.push(text.toString("utf8"));
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(printed.join(""));
      if (found) resolve(found[0]);
    };
    child.stdout?.on("data", look);
    child.stderr?.on("data", look);
    void ended.then(() => resolve(null));
  });
  return { address, ended, output: () => printed.join(""), kill: (signal) => void child.kill(signal) };
}
