/**
 * A gateway that speaks the wire protocol and does nothing by itself: the test decides what happens and when.
 * It serves the built page under the real content policy, so that a page which needs more than that fails here.
 */
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import type { WireEvent, WireItem, WireSession, WireSnapshot, WireStatus } from "@holdfast/gateway/wire";
import type { Entry } from "../../src/live/path.ts";

export const KEY = "agent:main:main";
const CONTENT_POLICY = "default-src 'self'; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'";
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

export interface Post {
  readonly key: string;
  readonly text: string;
  readonly clientKey: string;
}

export class FakeGateway {
  readonly posts: Post[] = [];
  entries: Entry[] = [];
  items: WireItem[] = [];
  sessions: WireSession[] = [];
  running = false;
  rehearsal = true;
  signedIn = true;
  /** How many messages are answered with 503 before one is accepted. */
  refuseNext = 0;
  epoch = "e1";
  readonly #events: { readonly id: string; readonly event: WireEvent }[] = [];
  readonly #streams = new Set<ServerResponse>();
  readonly #server: Server;
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Ends every open stream, as a proxy or a restart would. Returns how many there were. */
  cutStreams(): number {
    const count = this.#streams.size;
    for (const stream of this.#streams) stream.destroy();
    this.#streams.clear();
    return count;
  }

  /** Number of pages that listen now. */
  listeners(): number {
    return this.#streams.size;
  }

  emit(event: WireEvent): void {
    const kept = { id: `${this.epoch}:${this.#events.length + 1}`, event };
    this.#events.push(kept);
    for (const stream of this.#streams) send(stream, kept);
  }

  /** Appends to the transcript, durable. */
  save(...entries: Entry[]): void {
    this.entries.push(...entries);
    this.emit({ type: "entries", entries, durable: true, leaf: entries.at(-1)?.id ?? null });
  }

  setItem(item: WireItem): void {
    this.items = [...this.items.filter((other) => other.id !== item.id), item];
    this.emit({ type: "item", item });
  }

  turn(state: "began" | "ended", itemId: string): void {
    this.running = state === "began";
    this.emit({ type: "turn", state, itemId, outcome: state === "ended" ? "replied" : null });
  }

  stream(answerId: string, text: string): void {
    this.emit({ type: "delta", answerId, delta: { kind: "text", text }, durable: false });
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://fake");
    if (!url.pathname.startsWith("/api/")) return this.#file(url.pathname, response);
    if (!this.signedIn) return json(response, 401, failure("signed_out", "Sign in."));
    if (url.pathname === "/api/status") return json(response, 200, this.#status());
    if (url.pathname === "/api/sessions") return json(response, 200, { sessions: this.sessions });
    const [, key, what] = /^\/api\/sessions\/([^/]+)\/(\w+)$/.exec(url.pathname) ?? [];
    if (what === "entries") return json(response, 200, this.#snapshot(decodeURIComponent(key ?? "")));
    if (what === "messages") return this.#accept(decodeURIComponent(key ?? ""), request, response);
    if (what === "stream") return this.#open(url.searchParams.get("after") ?? "", response);
    json(response, 404, failure("not_found", "No such address."));
  }

  #status(): WireStatus {
    const model = this.rehearsal ? "rehearsal/offline" : "openai/gpt-5.2";
    const fixed = { version: "0.1.0", defaultSession: KEY, agentId: "main", startedAt: 0 };
    return { ...fixed, model, rehearsal: this.rehearsal };
  }

  #snapshot(key: string): WireSnapshot {
    const { entries, items, running } = this;
    const cursor = `${this.epoch}:${this.#events.length}`;
    const leaf = entries.at(-1)?.id ?? null;
    return { key, sessionId: "s1", leaf, entries, more: null, items, running, cursor };
  }

  async #accept(key: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const clientKey = String(request.headers["idempotency-key"]);
    const { text } = JSON.parse(await readBody(request)) as { text: string };
    this.posts.push({ key, text, clientKey });
    if (this.refuseNext > 0) {
      this.refuseNext -= 1;
      return json(response, 503, failure("busy", "Try again."));
    }
    const known = this.items.find((item) => item.clientKey === clientKey);
    const item = known ?? itemOf(`i${this.items.length + 1}`, clientKey, text);
    if (!known) this.setItem(item);
    json(response, 202, { accepted: true, durable: true, item });
  }

  #open(after: string, response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(": hello\n\n");
    const [epoch, sequence] = after.split(":");
    if (epoch !== this.epoch) send(response, { id: `${this.epoch}:0`, event: { type: "snapshot" } });
    else for (const kept of this.#events.slice(Number(sequence))) send(response, kept);
    this.#streams.add(response);
    response.on("close", () => this.#streams.delete(response));
  }

  async #file(path: string, response: ServerResponse): Promise<void> {
    const name = path === "/" ? "index.html" : normalize(path).replace(/^\/+/, "");
    const body = await readFile(join(this.#root, name)).catch(() => null);
    const type = TYPES[extname(name)] ?? "application/octet-stream";
    response.writeHead(body ? 200 : 404, { "content-type": type, "content-security-policy": CONTENT_POLICY });
    response.end(body ?? "");
  }
}

export function itemOf(id: string, clientKey: string | null, text: string): WireItem {
  return { id, clientKey, text, state: "queued", acceptedAt: 1_800_000_000_000, attempt: 0, failure: null };
}

function failure(code: string, message: string): unknown {
  return { error: { code, message, details: {} } };
}

function send(stream: ServerResponse, kept: { readonly id: string; readonly event: WireEvent }): void {
  stream.write(`id: ${kept.id}\ndata: ${JSON.stringify(kept.event)}\n\n`);
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}
