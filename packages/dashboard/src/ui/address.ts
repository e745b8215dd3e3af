/** The page's address names the session, so it can be kept, shared and gone back to. */
import { useSyncExternalStore } from "react";

const PREFIX = "#/sessions/";

export function addressOf(key: string): string {
  return `${PREFIX}${encodeURIComponent(key)}`;
}

function subscribe(changed: () => void): () => void {
  window.addEventListener("hashchange", changed);
  return () => window.removeEventListener("hashchange", changed);
}

/** The session key in the address, or null when it names none. */
export function useAddressedSession(): string | null {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return hash.startsWith(PREFIX) ? decode(hash.slice(PREFIX.length)) : null;
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}
