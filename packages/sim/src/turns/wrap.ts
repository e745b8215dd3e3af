/**
 * Standing between the product and its parts: wrappers with which a test breaks one rule and leaves everything else as it is.
 * Only mutants use them.
 */
import type { Agent, Tool } from "@holdfast/agent";
import type { LaneStore } from "@holdfast/gateway/internal";
import type { Entry, NewEntry, Session } from "@holdfast/sessions";
import type { Parts } from "./story.ts";

/**
 * Calls go to the object itself, whose private fields need it as `this`. (By a function of our own: what `bind` returns is refused
 * by `await using`.)
 */
export function over<Of extends object>(target: Of, change: Partial<Of>): Of {
  return new Proxy(target, {
    get(from, name) {
      const own = change[name as keyof Of];
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(from, name, from);
      return typeof value === "function" ? (...given: unknown[]): unknown => value.apply(from, given) : value;
    },
  });
}

/** Every tool changed alike. */
export const toolsOf =
  (change: (tool: Tool) => Partial<Tool>) =>
  (parts: Parts): Parts => ({
    ...parts,
    tools: new Map([...parts.tools].map(([name, tool]) => [name, { ...tool, ...change(tool) }])),
  });

export const storeOf =
  (change: (store: LaneStore) => Partial<LaneStore>) =>
  (parts: Parts): Parts => ({ ...parts, store: { ...parts.store, ...change(parts.store) } });

export const sessionOf =
  (change: (session: Session) => Partial<Session>) =>
  (parts: Parts): Parts => ({
    ...parts,
    sessions: (sessions) =>
      over(sessions, {
        open: async (key, origin) => {
          const session = await sessions.open(key, origin);
          return over(session, change(session));
        },
      }),
  });

export const agentOf =
  (change: (agent: Agent) => Partial<Agent>) =>
  (parts: Parts): Parts => ({ ...parts, agent: (agent) => ({ ...agent, ...change(agent) }) });

/** The log as if its entries had been written otherwise. */
export const logOf = (change: (entry: Entry, all: readonly Entry[]) => Entry): ((parts: Parts) => Parts) =>
  sessionOf((session) => ({
    since: async (id) => {
      const all = await session.since(id);
      return all.map((entry) => change(entry, all));
    },
  }));

export function listOf(entries: NewEntry | readonly NewEntry[]): readonly NewEntry[] {
  return Array.isArray(entries) ? (entries as readonly NewEntry[]) : [entries as NewEntry];
}

export function isIntent(entry: { readonly type: string }): boolean {
  return (entry as { readonly customType?: unknown }).customType === "holdfast:intent";
}

export function withData(entry: Entry, data: Readonly<Record<string, unknown>>): Entry {
  return { ...entry, data: { ...(entry as { readonly data?: object }).data, ...data } } as Entry;
}
