/**
 * The protocol between gateway and clients: types only, so that the dashboard can import it without any code of ours.
 * Everything a client sees says whether it is durable; provisional text is withdrawn explicitly.
 */
import type { Attachment } from "@holdfast/agent";
import type { Entry } from "@holdfast/sessions";

export type * from "./acts.ts";

export const WIRE_VERSION = 1;

/** Every failed request has this body; codes are in docs/errors.md. */
export interface WireError {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly details: Readonly<Record<string, unknown>>;
  };
}

export interface WireSession {
  readonly key: string;
  readonly sessionId: string;
  readonly title: string | null;
  readonly channel: string | null;
  readonly updatedAt: number | null;
  readonly lastInteractionAt: number | null;
  readonly status: string | null;
}
/** GET /api/sessions */
export interface WireSessionList {
  readonly sessions: readonly WireSession[];
}
/** GET /api/status */
export interface WireStatus {
  readonly version: string;
  readonly defaultSession: string;
  /** `provider/model`; `rehearsal/offline` means that no model is configured. */
  readonly model: string;
  readonly rehearsal: boolean;
  readonly agentId: string;
  readonly startedAt: number;
}

/** POST /api/signin-link: a new one-time link, good for a day, for a browser that is to be signed in. */
export interface WireSignInLink {
  /** To be put behind the gateway's address. */
  readonly path: string;
}

/** POST /api/sessions/{key}/attachments?name=NAME with the file as body: kept, to be named by a message that follows. */
export interface WireAttached {
  readonly attachment: Attachment;
}

/** A message that is accepted and not answered yet, or failed. */
export interface WireItem {
  readonly id: string;
  /** The `Idempotency-Key` it came with, or null. */
  readonly clientKey: string | null;
  readonly text: string;
  /** `waiting`: for a person's yes. `dropped`: not worked on; `failure` says why. */
  readonly state: "queued" | "running" | "waiting" | "done" | "failed" | "dropped";
  readonly acceptedAt: number;
  readonly attempt: number;
  /** Why it failed, for people. */
  readonly failure: string | null;
  /** Of a waiting item: what is asked of the person, with how to answer. */
  readonly asks?: string;
  /** Which failure it is, where it has a code (docs/errors.md). */
  readonly failureCode?: string | null;
}

/**
 * GET /api/sessions/{key}/entries?before=ID&limit=N: a snapshot. Entries are the current path, oldest first. `cursor` is
 * where the stream goes on: pass it as `Last-Event-ID` (or `?after=`) to /stream and nothing is missed or seen twice.
 */
export interface WireSnapshot {
  readonly key: string;
  readonly sessionId: string | null;
  readonly leaf: string | null;
  readonly entries: readonly Entry[];
  /** Pass as `before` to read further back; null at the beginning. */
  readonly more: string | null;
  readonly items: readonly WireItem[];
  readonly running: boolean;
  readonly cursor: string;
}

/** POST /api/sessions/{key}/messages, header `Idempotency-Key` optional. `wait` true: 200 with the answer; else 202. */
export interface WirePost {
  readonly text: string;
  readonly wait?: boolean;
}
/** 202 */
export interface WireAccepted {
  readonly accepted: true;
  readonly durable: true;
  readonly item: WireItem;
}
/** 200 */
/** GET /api/approvals; `expiresMs` since the epoch. */
export interface WireApproval {
  readonly id: string;
  readonly tool: string;
  readonly summary: string;
  readonly expiresMs: number;
  readonly session: string;
  readonly item: string;
  readonly from: string;
  /** The beginning of the message that led to it. */
  readonly askedFor: string;
}

/** GET /api/lanes; times in milliseconds since the epoch. */
export interface WireLaneItem {
  readonly id: string;
  readonly lane: "main" | "out";
  /** A session key, or an address. */
  readonly queue: string;
  readonly state: string;
  readonly acceptedMs: number;
  readonly notBeforeMs: number;
  readonly attempts: number;
  readonly text: string;
  /** What has to happen first, or why it was given up; null while it is at work. */
  readonly waitsFor: string | null;
}

export interface WireAnswer {
  readonly answer: string;
  readonly session: string;
  /** Both null where the gateway answered by itself, for example a stop. */
  readonly sessionId: string | null;
  readonly entryId: string | null;
  readonly durable: boolean;
}

/**
 * GET /api/sessions/{key}/stream (SSE). Each event's `id:` is `<epoch>:<sequence>`, its `data:` one of these as JSON.
 * `snapshot` means that the place asked for is not kept any more (or the gateway restarted): fetch the snapshot again.
 */
export type WireEvent =
  | { readonly type: "snapshot" }
  | {
      readonly type: "entries";
      readonly entries: readonly Entry[];
      readonly durable: boolean;
      readonly leaf: string | null;
    }
  | { readonly type: "item"; readonly item: WireItem }
  | {
      readonly type: "turn";
      readonly state: "began" | "ended";
      readonly itemId: string;
      readonly outcome: string | null;
    }
  | {
      readonly type: "delta";
      /** The message whose answer this is. */
      readonly itemId?: string;
      readonly answerId: string;
      readonly delta:
        | { readonly kind: "text" | "thinking"; readonly text: string }
        | { readonly kind: "call"; readonly name: string };
      readonly durable: false;
    }
  | { readonly type: "withdrawn"; readonly itemId?: string; readonly answerId: string };
