/**
 * Session keys and session ids. Pure.
 * Invariant: an id that passes can be a file name on any system; a key that passes cannot be mistaken for a path.
 */
import { SessionError } from "./errors.ts";

/** What a key says. `rest` is everything after the agent, joined as it was. */
export interface SessionKey {
  readonly agentId: string;
  readonly rest: string;
  readonly place:
    | { readonly kind: "main" }
    | {
        readonly kind: "chat";
        readonly channel: string;
        readonly chatType: "direct" | "group" | "channel";
        readonly chat: string;
        readonly thread: string | null;
      }
    | { readonly kind: "cron" | "subagent"; readonly id: string }
    | { readonly kind: "other" };
}

const KEY_CHARACTERS_MAX = 512;
const AGENT_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/;
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
const DOTS = /(?:^|[\\/:])\.{1,2}(?:$|[\\/:])/;
const CHAT = /^([^:]+):(direct|group|channel):(.+?)(?::thread:([^:]+(?::[^:]+)*))?$/;
const NUMBERED = /^(cron|subagent):(.+)$/;

/** Why this is no key, or null. */
function keyFlaw(key: unknown): string | null {
  if (typeof key !== "string") return "not a text";
  if (key.length > KEY_CHARACTERS_MAX) return `longer than ${KEY_CHARACTERS_MAX} characters`;
  if (CONTROL.test(key)) return "it holds control characters";
  if (!key.isWellFormed()) return "it holds half a character";
  const [scheme, agent, ...rest] = key.split(":");
  if (scheme !== "agent" || agent === undefined || rest.length === 0) return "it does not begin with agent:<agent>:";
  if (!AGENT_ID.test(agent)) return "the agent's id is not letters, digits, _ and -";
  if (rest.some((part) => part.trim() === "")) return "it has an empty part";
  return DOTS.test(rest.join(":")) ? "it looks like a path" : null;
}

/** Reads a key, or throws `bad_key` with the reason. */
export function parseSessionKey(key: string): SessionKey {
  const reason = keyFlaw(key);
  if (reason !== null) throw new SessionError("bad_key", { key: shown(key), reason });
  const [, agentId = "", ...parts] = key.split(":");
  const rest = parts.join(":");
  return { agentId, rest, place: placeOf(rest) };
}

/** For a message: short, and without what would disturb a terminal. */
function shown(key: unknown): string {
  return JSON.stringify(String(key).slice(0, 100));
}

function placeOf(rest: string): SessionKey["place"] {
  if (rest === "main") return { kind: "main" };
  const numbered = NUMBERED.exec(rest);
  if (numbered?.[2] !== undefined) return { kind: numbered[1] === "cron" ? "cron" : "subagent", id: numbered[2] };
  const chat = CHAT.exec(rest);
  if (chat?.[1] === undefined || chat[3] === undefined) return { kind: "other" };
  const chatType = chat[2] === "direct" ? "direct" : chat[2] === "group" ? "group" : "channel";
  return { kind: "chat", channel: chat[1], chatType, chat: chat[3], thread: chat[4] ?? null };
}

export function isSessionKey(key: unknown): key is string {
  return keyFlaw(key) === null;
}

/** Writes a key, or throws `bad_key`: parts are joined by `:` and checked as a whole. */
export function formatSessionKey(agentId: string, ...parts: readonly string[]): string {
  const key = ["agent", agentId, ...parts].join(":");
  parseSessionKey(key);
  return key;
}

export function isSessionId(id: unknown): id is string {
  return typeof id === "string" && SESSION_ID.test(id);
}

/** Throws `bad_session_id`. */
export function checkSessionId(id: unknown): asserts id is string {
  if (!isSessionId(id)) throw new SessionError("bad_session_id", { id: shown(id) });
}
