/** Requests with every header under our control (fetch sets Host and Origin itself), and a reader of event streams. */
import { readFileSync } from "node:fs";
import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import { join } from "node:path";
import type { WireEvent } from "../../src/wire/index.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON; fails where it is none. */
  json(): unknown;
}
export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export function tokenOf(home: string): string {
  return (JSON.parse(readFileSync(join(home, "credentials.json"), "utf8")) as { gatewayToken: string }).gatewayToken;
}

function open(url: string, { method = "GET", headers = {}, body }: Asked): Promise<IncomingMessage> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const type = text === undefined ? {} : { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const asked = httpRequest(url, { method, headers: { ...type, ...headers }, agent: false }, resolve);
    asked.on("error", reject);
    asked.end(text);
  });
}

export async function ask(url: string, asked: Asked = {}): Promise<Answer> {
  const response = await open(url, asked);
  const pieces: Buffer[] = [];
  for await (const piece of response) pieces.push(piece as Buffer);
  const text = Buffer.concat(pieces).toString("utf8");
  return { status: response.statusCode ?? 0, headers: response.headers, text, json: () => JSON.parse(text) as unknown };
}

export interface Streamed {
  readonly id: string;
  readonly event: WireEvent;
}

/** Reads events until `enough` says so, then hangs up. */
export async function events(
  url: string,
  headers: Readonly<Record<string, string>>,
  enough: (seen: readonly Streamed[]) => boolean,
): Promise<Streamed[]> {
  const response = await open(url, { headers });
  if (response.statusCode !== 200) throw new Error(`stream answered ${response.statusCode}`);
  const seen: Streamed[] = [];
  let rest = "";
  for await (const piece of response) {
    const blocks = (rest + String(piece)).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const id = /^id: (.*)$/m.exec(block)?.[1];
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (id !== undefined && data !== undefined) seen.push({ id, event: JSON.parse(data) as WireEvent });
    }
    if (enough(seen)) break;
  }
  response.destroy();
  return seen;
}
