/**
 * The browser as the live layer's outside: requests, event streams, timers, storage, random keys.
 * The only file of the dashboard that touches them, so that everything else can be tested without a browser.
 */
import type { WireError, WireEvent } from "@holdfast/gateway/wire";
import type { Api, Clock, Keep, Outcome, Outside, StreamReader } from "./live/outside.ts";

/** How long a request may take before it counts as unreachable. */
const REQUEST_MS = 30_000;

async function request<T>(path: string, init: RequestInit = {}): Promise<Outcome<T>> {
  try {
    const response = await fetch(path, { ...init, signal: AbortSignal.timeout(REQUEST_MS), cache: "no-store" });
    if (response.ok) return { kind: "ok", value: (await response.json()) as T };
    if (response.status === 401) return { kind: "signed-out" };
    // Overload and restarts pass; the same request is right again later.
    if (response.status === 429 || response.status >= 500) return { kind: "unreachable" };
    return { kind: "refused", ...(await refusalOf(response)) };
  } catch {
    return { kind: "unreachable" };
  }
}

async function refusalOf(response: Response): Promise<{ code: string; message: string }> {
  const fallback = { code: `http_${response.status}`, message: `${response.status} ${response.statusText}` };
  const body: Partial<WireError> | null = await response.json().catch(() => null);
  return body?.error ? { code: body.error.code, message: body.error.message } : fallback;
}

const sessionPath = (key: string): string => `/api/sessions/${encodeURIComponent(key)}`;

function readStream(key: string, cursor: string, reader: StreamReader): () => void {
  const source = new EventSource(`${sessionPath(key)}/stream?after=${encodeURIComponent(cursor)}`);
  source.onopen = () => reader.opened();
  source.onmessage = (message: MessageEvent<string>) => {
    reader.event(message.lastEventId, JSON.parse(message.data) as WireEvent);
  };
  // Reconnecting is the live layer's business: it knows the cursor, and asks why when a stream is refused.
  const end = (): void => {
    source.close();
    window.removeEventListener("offline", end);
    reader.ended();
  };
  source.onerror = end;
  window.addEventListener("offline", end);
  return () => {
    source.close();
    window.removeEventListener("offline", end);
  };
}

const api: Api = {
  status: () => request("/api/status"),
  sessions: () => request("/api/sessions"),
  snapshot: (key, before) => {
    const page = before === null ? "?limit=200" : `?limit=200&before=${encodeURIComponent(before)}`;
    return request(`${sessionPath(key)}/entries${page}`);
  },
  send: (key, text, clientKey) =>
    request(`${sessionPath(key)}/messages`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": clientKey },
      body: JSON.stringify({ text }),
    }),
  stream: readStream,
};

const clock: Clock = {
  nowMs: () => Date.now(),
  online: () => navigator.onLine,
  pause: (ms, signal) =>
    new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        window.removeEventListener("online", done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      window.addEventListener("online", done);
      signal.addEventListener("abort", done);
      if (signal.aborted) done();
    }),
};

/** Storage may be forbidden or full; the page works without it. */
const keep: Keep = {
  get: (name) => {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  },
  set: (name, value) => {
    try {
      if (value === null) localStorage.removeItem(name);
      else localStorage.setItem(name, value);
    } catch {
      // Nothing to do: what could not be kept is still on the page.
    }
  },
};

/** 128 random bits; crypto.randomUUID is missing on plain http outside localhost. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const browser: Outside = { api, clock, keep, newKey };

/** Calls `run` every `ms` until the returned function is called. */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms);
  return () => clearInterval(timer);
}
