/** What a gateway is to whoever runs one in their process: how it is made, and what it does. */
import type { Model } from "@holdfast/agent";
import type { World } from "@holdfast/base";
import type { AgentConfig, Config } from "./config/schema.ts";
import type { GatewayError } from "./errors.ts";
import type { Hub } from "./live/hub.ts";
import type { Log } from "./log.ts";
import type { Posted } from "./post.ts";
import type { QueueMode } from "./queue/plan.ts";
import type { WireItem } from "./wire/index.ts";

export interface GatewayOptions {
  readonly home: string;
  readonly config: Config;
  readonly world: World;
  readonly log: Log;
  /** Folder of the built dashboard; null: none. */
  readonly dashboardRoot: string | null;
  /** Where to listen; left out: as configured; null: not at all. */
  readonly http?: { readonly host: string; readonly port: number } | null;
  /** Takes the place of the configured models, e.g. a scripted one. */
  readonly model?: (agent: AgentConfig) => Model;
}

export interface SendOptions {
  readonly wait?: boolean;
  /** Same key and text: same item and answer. */
  readonly clientKey?: string;
  /** How it meets a turn at work: by default it waits for a turn of its own. */
  readonly mode?: QueueMode;
  readonly signal?: AbortSignal;
}

export interface Gateway extends AsyncDisposable {
  /** Throws `home_busy`, `home_unusable`, `lanes_unusable`, `workspace_unusable`, `http_unavailable`; nothing is held then. */
  start(): Promise<void>;
  /** Idempotent. Waits until what is at work is finished or put back. */
  stop(): Promise<void>;
  /** Resolves with the reason when it has stopped by itself (`home_lost`). */
  readonly lost: Promise<GatewayError>;
  /** `http://host:port`, or null when it does not listen. */
  readonly address: string | null;
  /** A new one-time link, or null when it does not listen. */
  signInLink(): string | null;
  /** The key of the owner's main conversation. */
  readonly defaultSession: string;
  /** `null` as key: the default session. */
  send(sessionKey: string | null, text: string, options?: SendOptions): Promise<Posted>;
  /** What of one session is not finished, oldest first. */
  open(sessionKey: string): Promise<readonly WireItem[]>;
  /** Events of one session, as clients get them. */
  readonly hub: Hub;
}
