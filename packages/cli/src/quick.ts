/**
 * Recognises the one command that must start as fast as Node itself, without loading the option parser.
 * Pure. Anything unusual is undefined and goes the ordinary way, so there is one place that explains mistakes.
 */
import type { GlobalOptions } from "./context.ts";

/** `session list` or `sessions list`, with nothing but global options around it. */
export function quickSessionList(argv: readonly string[]): GlobalOptions | undefined {
  const words: string[] = [];
  const found: { json: boolean; home: string | undefined; agent: string | undefined } = {
    json: false,
    home: undefined,
    agent: undefined,
  };
  for (let index = 0; index < argv.length; index++) {
    const word = argv[index]!;
    if (word === "--json") found.json = true;
    else if (word === "--home" || word === "--agent") {
      const value = argv[++index];
      if (value === undefined || value === "" || value.startsWith("-")) return undefined;
      found[word === "--home" ? "home" : "agent"] = value;
    } else words.push(word);
  }
  const named = words.length === 2 && (words[0] === "session" || words[0] === "sessions") && words[1] === "list";
  return named ? found : undefined;
}
