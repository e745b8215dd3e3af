/**
 * Which home a command works on. Looks, and creates nothing.
 * Invariant: a home that belongs to another program is refused before anything is written into it.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import type { CommandContext } from "./context.ts";
import { CliError } from "./errors.ts";

/** `--home`, else `$HOLDFAST_HOME`, else `~/.holdfast`; absolute. Throws `openclaw_home`. */
export function homeOf(context: Pick<CommandContext, "options" | "env">): string {
  const given = context.options.home ?? context.env.HOLDFAST_HOME;
  const home = resolve(given === undefined || given === "" ? join(homedir(), ".holdfast") : given);
  if (existsSync(join(home, "openclaw.json")) && !existsSync(join(home, ".home.json"))) {
    throw new CliError("openclaw_home", { path: home });
  }
  return home;
}
