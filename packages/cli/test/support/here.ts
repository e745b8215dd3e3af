/** Runs a command line in this process: what is said and done is the same as in one of its own, and starting costs nothing. */
import { realWorld } from "@holdfast/base";
import { Output } from "../../src/output.ts";
import { parseAndRun } from "../../src/program.ts";
import { report } from "../../src/report.ts";

export interface RanHere {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export async function runHere(args: readonly string[]): Promise<RanHere> {
  const said = { stdout: "", stderr: "" };
  const sink = (into: keyof typeof said) => ({
    write(text: string | Uint8Array, done?: () => void) {
      said[into] += Buffer.from(text).toString();
      done?.();
    },
    on() {},
  });
  const output = new Output(sink("stdout"), () => sink("stderr"), {}, args.includes("--json"));
  const base = { output, env: {}, world: realWorld(), version: () => "0" };
  const code = await parseAndRun(args, (options) => ({ ...base, options })).catch((error: unknown) =>
    report(output, error),
  );
  return { code, ...said };
}
