/** A name for a session: its own title, else what its key says. */
import type { WireSession } from "@holdfast/gateway/wire";
import type { Text } from "../text/en.ts";

export function sessionTitle(session: Pick<WireSession, "key" | "title">, text: Text): string {
  if (session.title !== null && session.title.trim() !== "") return session.title;
  return titleOfKey(session.key, text);
}

/** `agent:main:telegram:group:12345` → `telegram · 12345`, `agent:main:work` → `work`; the main session has a name of its own. */
function titleOfKey(key: string, text: Text): string {
  const parts = key.split(":");
  if (parts.length === 3 && parts[0] === "agent" && parts[2] === "main") return text.mainSession;
  if (parts[0] !== "agent" || parts.length < 3) return key;
  if (parts.length === 3) return parts[2] === "" ? key : String(parts[2]);
  return `${parts[2]} · ${parts.slice(4).join(":") || parts[3]}`;
}
