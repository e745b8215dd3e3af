/**
 * Which workspace files a run is given, as a table. Pure.
 * Invariant: what a person told the agent about themselves (MEMORY.md, daily notes) reaches other rooms only where the
 * configuration says so.
 */
import { parseSessionKey } from "@holdfast/sessions";
import { dayBefore } from "./days.ts";

/** `main`: the owner's own conversation. `direct`: any other between two. */
export type RunKind = "main" | "direct" | "group" | "thread" | "cron" | "subagent";

/** `lightweight`: no file at all. `heartbeat`: HEARTBEAT.md and nothing else. Left out: what its kind is given. */
export type Weight = "full" | "lightweight" | "heartbeat";

/** Whose prompt has MEMORY.md and the daily notes: the main conversation's, everybody's, nobody's. */
export type MemoryScope = "main" | "always" | "never";

export const MEMORY_FILE = "MEMORY.md";
export const SETUP_FILE = "BOOTSTRAP.md";

const CONVERSATION = ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md", "HEARTBEAT.md"];

/** In the order in which they stand in the prompt. BOOTSTRAP.md is given while the set-up is not done; what `MemoryScope` says comes on top. */
export const FILES_OF: Readonly<Record<RunKind, readonly string[]>> = {
  main: [...CONVERSATION, SETUP_FILE],
  direct: CONVERSATION,
  group: CONVERSATION,
  thread: CONVERSATION,
  cron: ["AGENTS.md", "SOUL.md", "TOOLS.md", "IDENTITY.md", "USER.md"],
  subagent: ["AGENTS.md", "TOOLS.md"],
};

export interface Run {
  readonly kind: RunKind;
  readonly weight: Weight;
}

export interface MemorySettings {
  readonly scope: MemoryScope;
  /** Days of notes, today included. */
  readonly days: number;
}

export interface Wanted {
  /** Relative paths, in the order in which they stand in the prompt. */
  readonly files: readonly string[];
  readonly skills: boolean;
}

/** What a run is given. `today`: the user's, as YYYY-MM-DD. */
export function wantedBy({ kind, weight }: Run, { scope, days }: MemorySettings, today: string): Wanted {
  if (weight === "lightweight") return { files: [], skills: false };
  if (weight === "heartbeat") return { files: ["HEARTBEAT.md"], skills: false };
  const remembers = scope === "always" || (scope === "main" && kind === "main");
  const notes = remembers ? [MEMORY_FILE, ...notesOf(today, days)] : [];
  return { files: [...FILES_OF[kind], ...notes], skills: true };
}

/** `memory/YYYY-MM-DD.md`, the oldest first. */
function notesOf(today: string, days: number): readonly string[] {
  const notes: string[] = [];
  for (let day = today; notes.length < days; day = dayBefore(day)) notes.unshift(`memory/${day}.md`);
  return notes;
}

/** Whether this is the agent's own memory, which it writes while it talks. */
export function isMemory(name: string): boolean {
  return name === MEMORY_FILE || name.startsWith("memory/");
}

/** What kind of run a conversation's key means. A key of another shape is between two. */
export function kindOf(sessionKey: string): RunKind {
  const { place, rest } = parseSessionKey(sessionKey);
  switch (place.kind) {
    case "main":
    case "cron":
    case "subagent":
      return place.kind;
    case "chat":
      if (place.thread !== null) return "thread";
      return place.chatType === "direct" ? "direct" : "group";
    case "other":
      // With the account before the chat type.
      if (!/^[^:]+:[^:]+:(?:group|channel):/.test(rest)) return "direct";
      return rest.includes(":thread:") ? "thread" : "group";
  }
}
