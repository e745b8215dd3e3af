/**
 * How much of a conversation its model sees, by the kind of conversation and the channel. Pure.
 *
 * `channelOverrides.byChannel` before the chat type's, before `sessions`; in each the exact number before the preset.
 */
import { parseSessionKey } from "@holdfast/sessions";
import type { Config } from "./config/schema.ts";

type Sessions = Config["sessions"];
type Scope = "dm" | "group" | "thread";

export interface HistoryLimits {
  readonly maxMessages?: number;
  readonly maxTokens?: number;
}

interface Numbers {
  readonly messages: number;
  readonly tokens: number;
}

const SMALL: Readonly<Record<"all" | "dm" | "group", Numbers>> = {
  all: { messages: 50, tokens: 8_000 },
  dm: { messages: 100, tokens: 16_000 },
  group: { messages: 20, tokens: 4_000 },
};

/** Nothing where there is no limit. */
export function historyLimits(sessionKey: string, channel: string, sessions: Sessions): HistoryLimits {
  const scopes = scopesOf(sessionKey);
  const { byChannel } = sessions.channelOverrides;
  const overrides = [
    Object.hasOwn(byChannel, channel) ? byChannel[channel] : undefined,
    ...scopes.map((scope) => sessions.channelOverrides[scope]),
    sessions,
  ];
  const type = scopes.includes("group") ? "group" : scopes.includes("dm") ? "dm" : "all";
  const pick = (exact: "maxHistoryMessages" | "maxHistoryTokens", of: keyof Numbers): number | undefined => {
    for (const override of overrides) {
      const found = override?.[exact] ?? (override?.preset === "small" ? SMALL[type][of] : undefined);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const maxMessages = pick("maxHistoryMessages", "messages");
  const maxTokens = pick("maxHistoryTokens", "tokens");
  return { ...(maxMessages !== undefined && { maxMessages }), ...(maxTokens !== undefined && { maxTokens }) };
}

/** The nearest first: a thread falls back to what its place is. The main conversation is between two. */
function scopesOf(sessionKey: string): readonly Scope[] {
  const { place } = parseSessionKey(sessionKey);
  if (place.kind === "main") return ["dm"];
  if (place.kind !== "chat") return [];
  const own: Scope = place.chatType === "direct" ? "dm" : "group";
  return place.thread === null ? [own] : ["thread", own];
}
