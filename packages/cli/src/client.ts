/**
 * A client of a gateway's HTTP interface, for `send`, `chat`, `status` and the demo.
 * Invariants: the token goes only to the address that the holder of the home wrote down, and into no message; a failed
 * request becomes an error with the gateway's own code and words.
 */
import type { LedgerAction } from "@holdfast/agent";
import { CodedError, isObject, messageOf } from "@holdfast/base";
import type {
  WireAccepted,
  WireAnswer,
  WireApproval,
  WireError,
  WireEvent,
  WireLaneItem,
  WireRestored,
  WireSessionList,
  WireSignInLink,
  WireSnapshot,
  WireStatus,
} from "@holdfast/gateway/wire";
import { CliError } from "./errors.ts";
import { serverEvents } from "./sse.ts";

export interface GatewayDoor {
  /** `http://127.0.0.1:4653`, without a slash at the end. */
  readonly address: string;
  readonly token: string;
}

/** What the gateway refused, under its own code. */
export class GatewayRefusal extends CodedError {}

function isWireError(body: unknown): body is WireError {
  return isObject(body) && isObject(body.error) && typeof body.error.code === "string";
}

function refusal(status: number, body: unknown): CodedError {
  if (!isWireError(body)) return new CliError("gateway_refused", { status, what: "no explanation." });
  const { code, message } = body.error;
  return new GatewayRefusal({ [code]: "{message}" }, code, { message, status });
}

export class GatewayClient {
  readonly #door: GatewayDoor;

  constructor(door: GatewayDoor) {
    this.#door = door;
  }

  get address(): string {
    return this.#door.address;
  }

  status(): Promise<WireStatus> {
    return this.#json("GET", "/api/status");
  }

  /** A new one-time link for a browser. */
  async signInLink(): Promise<string> {
    const { path } = await this.#json<WireSignInLink>("POST", "/api/signin-link");
    return `${this.#door.address}${path}`;
  }

  sessions(): Promise<WireSessionList> {
    return this.#json("GET", "/api/sessions");
  }

  snapshot(key: string, limit = 50): Promise<WireSnapshot> {
    return this.#json("GET", `${sessionPath(key)}/entries?limit=${limit}`);
  }

  /** Resolves when the message is durable in the lane; the answer comes later. */
  accept(key: string, text: string, clientKey: string, signal?: AbortSignal): Promise<WireAccepted> {
    const body = { text };
    return this.#json("POST", `${sessionPath(key)}/messages`, { body, headers: keyed(clientKey), signal });
  }

  /** Resolves with the answer. Asking again under the same key never runs the message twice. */
  ask(key: string, text: string, clientKey: string): Promise<WireAnswer> {
    const body = { text, wait: true };
    return this.#json("POST", `${sessionPath(key)}/messages`, { body, headers: keyed(clientKey) });
  }

  approvals(): Promise<{ readonly approvals: readonly WireApproval[] }> {
    return this.#json("GET", "/api/approvals");
  }

  /** `id` may be the beginning of one. Resolves when the decision is durable. */
  decide(id: string, decision: "yes" | "no"): Promise<{ readonly approval: WireApproval; readonly durable: true }> {
    return this.#json("POST", `/api/approvals/${encodeURIComponent(id)}`, { body: { decision } });
  }

  settleAction(
    key: string,
    id: string,
    verdict: { readonly happened: boolean; readonly note?: string },
  ): Promise<{ readonly action: LedgerAction; readonly durable: boolean }> {
    return this.#json("POST", `${sessionPath(key)}/actions/${encodeURIComponent(id)}`, { body: verdict });
  }

  /** An act on a conversation (wire/acts.ts has the shapes). Durable when it resolves. */
  act<T>(key: string, name: string, body: object = {}): Promise<T> {
    return this.#json("POST", `${sessionPath(key)}/${name}`, { body });
  }

  restore(asked: { readonly agentId: string; readonly name: string; readonly as?: string }): Promise<WireRestored> {
    return this.#json("POST", "/api/restore", { body: asked });
  }

  /** Retention now, as the gateway has it configured. */
  cleanup<T>(agentId: string, dryRun: boolean): Promise<{ readonly agents: readonly T[] }> {
    return this.#json("POST", "/api/cleanup", { body: { agentId, dryRun } });
  }

  lanes(): Promise<{ readonly items: readonly WireLaneItem[] }> {
    return this.#json("GET", "/api/lanes");
  }

  resend(id: string): Promise<{ readonly queued: true }> {
    return this.#json("POST", `/api/lanes/${encodeURIComponent(id)}/resend`);
  }

  /** Events after `cursor`. Ends when the connection or the signal ends it. */
  async *stream(key: string, cursor: string, signal: AbortSignal): AsyncGenerator<WireEvent> {
    const path = `${sessionPath(key)}/stream?after=${encodeURIComponent(cursor)}`;
    const response = await this.#fetch(path, { headers: { accept: "text/event-stream" }, signal });
    if (!response.ok || response.body === null) throw refusal(response.status, await bodyOf(response));
    for await (const event of serverEvents(response.body)) yield JSON.parse(event.data) as WireEvent;
  }

  async #json<T>(method: string, path: string, { body, headers = {}, signal }: Asked = {}): Promise<T> {
    const response = await this.#fetch(path, {
      method,
      ...(signal === undefined ? {} : { signal }),
      headers: body === undefined ? headers : { ...headers, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const value = await bodyOf(response);
    if (!response.ok) throw refusal(response.status, value);
    return value as T;
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${this.#door.token}`);
    try {
      return await fetch(`${this.#door.address}${path}`, { ...init, headers, redirect: "error" });
    } catch (error) {
      if (init.signal?.aborted) throw error;
      const why = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
      throw new CliError("gateway_unreachable", { address: this.#door.address, why }, error);
    }
  }
}

interface Asked {
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

function keyed(clientKey: string): Readonly<Record<string, string>> {
  return { "idempotency-key": clientKey };
}

function sessionPath(key: string): string {
  return `/api/sessions/${encodeURIComponent(key)}`;
}

async function bodyOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}
