/**
 * What a command may not inherit from the gateway's environment, beyond what the names of variables tell (the agent's own
 * rule). Invariant: a variable that filled the configuration, or that holds a key or token the gateway knows, stays behind.
 */
import type { Environment } from "./config/environment.ts";
import type { Config } from "./config/schema.ts";

/** Every command needs these, and they may well be named in a path of the configuration. */
const NEEDED = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR|TERM|PWD)$/;

export function withoutSecrets(
  env: Environment,
  { config, known }: { readonly config: Pick<Config, "models" | "expanded">; readonly known: readonly string[] },
): Environment {
  const { models, expanded = [] } = config;
  const keys = Object.values(models.providers).flatMap(({ apiKey }) => apiKey ?? []);
  const secrets = new Set([...keys, ...known]);
  const stays = ([name, value]: [string, string | undefined]): boolean =>
    (expanded.includes(name) && !NEEDED.test(name)) || (value !== undefined && value !== "" && secrets.has(value));
  return Object.fromEntries(Object.entries(env).filter((pair) => !stays(pair)));
}
