/**
 * What a person may call a conversation, resolved to its key. Pure.
 * Invariant: a name that could mean two conversations is refused with both named, never guessed.
 */
import { CliError } from "./errors.ts";

export interface Named {
  readonly key: string;
  readonly sessionId: string;
  readonly agentId: string;
}

/** Channels whose direct messages are the owner's own: they share the main session. */
const OWN_CHANNELS = new Set(["web", "cli"]);
const NAME_CHARS_MAX = 512;

/** Why a text cannot be a name, or undefined. Names never become paths, and this keeps it so. */
function whyNotAName(name: string): string | undefined {
  if (name.trim() === "") return "it is empty";
  if (name.length > NAME_CHARS_MAX) return `it is longer than ${NAME_CHARS_MAX} characters`;
  if (/[\u0000-\u001f\u007f]/.test(name)) return "it holds control characters";
  if (/(^|[/\\:])\.\.?([/\\:]|$)/.test(name)) return "it looks like a path";
  return undefined;
}

/** Throws `bad_name`. */
export function checkName(name: string): void {
  const why = whyNotAName(name);
  if (why !== undefined) throw new CliError("bad_name", { name: JSON.stringify(name), why });
}

function mainKey(agentId: string): string {
  return `agent:${agentId}:main`;
}

/** `<channel>_<userId>`: where that person's direct messages go now. */
function directOf(name: string, rows: readonly Named[], defaultAgent: string): readonly Named[] {
  const cut = name.indexOf("_");
  if (cut <= 0) return [];
  const [channel, user] = [name.slice(0, cut), name.slice(cut + 1)];
  if (OWN_CHANNELS.has(channel)) return rows.filter((row) => row.key === mainKey(defaultAgent));
  return rows.filter((row) => {
    const parts = row.key.split(":");
    return parts[2] === channel && parts.includes("direct") && parts.at(-1) === user;
  });
}

/** How a name was understood, for people. */
export type NamedBy =
  | "its key"
  | "its session id"
  | "a key of the default agent, without its beginning"
  | "a key without its beginning"
  | "where that person's direct messages go"
  | "the beginning of its key or session id"
  | "the beginning of its name";

interface Candidates {
  readonly by: NamedBy;
  readonly rows: readonly Named[];
}

/** The first way of reading the name that finds anything wins; inside one way it must be unique. */
function candidates(name: string, rows: readonly Named[], defaultAgent: string): Candidates | undefined {
  const where = (is: (row: Named) => boolean) => (): readonly Named[] => rows.filter(is);
  const ways: readonly (readonly [NamedBy, () => readonly Named[]])[] = [
    ["its key", where((row) => row.key === name)],
    ["its session id", where((row) => row.sessionId === name)],
    ["a key of the default agent, without its beginning", where((row) => row.key === `agent:${defaultAgent}:${name}`)],
    ["a key without its beginning", where((row) => row.key === `agent:${row.agentId}:${name}`)],
    ["where that person's direct messages go", () => directOf(name, rows, defaultAgent)],
    [
      "the beginning of its key or session id",
      where((row) => row.key.startsWith(name) || row.sessionId.startsWith(name)),
    ],
    ["the beginning of its name", where((row) => row.key.startsWith(`agent:${row.agentId}:${name}`))],
  ];
  for (const [by, find] of ways) {
    const found = find();
    if (found.length > 0) return { by, rows: found };
  }
  return undefined;
}

/** The conversation a name means, among what there is. Throws `bad_name`, `name_unknown`, `name_ambiguous`. */
export function resolveName(name: string, rows: readonly Named[], defaultAgent: string): Named {
  return explainName(name, rows, defaultAgent).named;
}

/** The same, and how the name was understood. */
export function explainName(
  name: string,
  rows: readonly Named[],
  defaultAgent: string,
): { readonly named: Named; readonly by: NamedBy } {
  return unique(name, rows, { defaultAgent, begin: "" });
}

interface Naming {
  readonly defaultAgent: string;
  /** How a conversation of that name would be begun; empty where it cannot be. */
  readonly begin: string;
}

function unique(name: string, rows: readonly Named[], { defaultAgent, begin }: Naming) {
  checkName(name);
  const { by, rows: found } = candidates(name, rows, defaultAgent) ?? { by: "its key" as const, rows: [] };
  if (found.length === 1) return { named: found[0]!, by };
  if (found.length === 0) throw new CliError("name_unknown", { name: JSON.stringify(name), begin });
  const names = found.slice(0, 5).map((row) => row.key);
  throw new CliError("name_ambiguous", {
    name: JSON.stringify(name),
    count: found.length,
    names: found.length > 5 ? `${names.join(", ")}, ...` : names.join(", "),
  });
}

/** The key to write to: an existing conversation, or a new one where the name is a whole key (`main` is short for the main one). */
export function keyToWrite(name: string, rows: readonly Named[], defaultAgent: string): string {
  checkName(name);
  if (name === "main") return mainKey(defaultAgent);
  if (name.startsWith("agent:") && name.split(":").length >= 3) return name;
  const key = /^[\w.-]+$/.test(name) ? `agent:${defaultAgent}:${name}` : `agent:${defaultAgent}:work`;
  return unique(name, rows, { defaultAgent, begin: ` To begin a new one, write its whole key, such as ${key}.` }).named
    .key;
}
