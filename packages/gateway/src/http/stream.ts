/**
 * Server-sent events of one session.
 * Invariant: a client that reads too slowly is cut, not buffered for ever; it comes back with the last id it saw and
 * misses nothing.
 */
import type { ServerResponse } from "node:http";
import type { World } from "@holdfast/base";
import type { Hub } from "../live/hub.ts";

const HEARTBEAT_MS = 15_000;
const BUFFERED_BYTES_MAX = 1024 * 1024;
const RETRY_MS = 1_000;

export interface StreamOptions {
  readonly hub: Hub;
  readonly world: World;
  readonly key: string;
  /** The last id the client saw, or null. */
  readonly after: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

/** Runs until either side closes. The response is ours from here on. */
export function streamEvents(response: ServerResponse, { hub, world, key, after, headers }: StreamOptions): void {
  const write = (text: string): void => {
    if (response.destroyed) return;
    response.write(text);
    if (response.writableLength > BUFFERED_BYTES_MAX) response.destroy();
  };
  response.writeHead(200, {
    ...headers,
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  write(`retry: ${RETRY_MS}\n\n`);
  const listening = hub.listen(key, after, (id, event) => write(`id: ${id}\ndata: ${JSON.stringify(event)}\n\n`));
  const beating = world.every(HEARTBEAT_MS, () => write(": still here\n\n"));
  response.on("close", () => {
    listening[Symbol.dispose]();
    beating[Symbol.dispose]();
  });
}
