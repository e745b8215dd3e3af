/** The example of a gateway that is killed during a command, as it stands in the guide; judged by what it prints and by its end. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const SCRIPT = fileURLToPath(new URL("../../../examples/restart/run.sh", import.meta.url));

// The whole program, three times, and a command of twenty seconds.
test.runIf(process.env.HOLDFAST_LARGE === "1")(
  "a restart during a long command, as the guide shows it",
  { timeout: 180_000 },
  async () => {
    const { stdout } = await promisify(execFile)("bash", [SCRIPT], {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: "dumb" },
    });
    expect(stdout).toMatch(/open +exec/);
    expect(stdout).toMatch(/toolResult {2}\[Recovered\] .* it happened\. done/);
    expect(stdout).toMatch(/happened +exec/);
    // Once.
    expect(stdout.trimEnd()).toMatch(/\$ cat starts\.txt\S*\nstarted$/);
  },
);
