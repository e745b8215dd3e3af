/** An outside that the test plays: answers are scripted, pauses are only counted, storage is a map. */
import type { WireAccepted, WireSnapshot } from "@holdfast/gateway/wire";
import type { Outcome, Outside, StreamReader } from "../../src/live/outside.ts";
import { itemOf } from "./fake-gateway.ts";

export const SNAPSHOT: WireSnapshot = {
  key: "k",
  sessionId: "s",
  leaf: null,
  entries: [],
  more: null,
  items: [],
  running: false,
  cursor: "e1:0",
};

type SendOutcome = Outcome<WireAccepted>;

export class PlayedOutside implements Outside {
  readonly sent: { readonly text: string; readonly clientKey: string }[] = [];
  readonly snapshots: (string | null)[] = [];
  readonly cursors: string[] = [];
  readonly pauses: number[] = [];
  readonly kept = new Map<string, string>();
  reader: StreamReader | null = null;
  isOnline = true;
  /** What the next requests come to; then they succeed. */
  nextSnapshots: Outcome<WireSnapshot>[] = [];
  nextSends: SendOutcome[] = [];
  snapshot: WireSnapshot = SNAPSHOT;
  #keys = 0;

  readonly api: Outside["api"] = {
    status: async () => ({ kind: "unreachable" }),
    sessions: async () => ({ kind: "unreachable" }),
    snapshot: async (_key, before) => {
      this.snapshots.push(before);
      return this.nextSnapshots.shift() ?? { kind: "ok", value: this.snapshot };
    },
    send: async (_key, text, clientKey) => {
      this.sent.push({ text, clientKey });
      const item = itemOf(`i-${clientKey}`, clientKey, text);
      return this.nextSends.shift() ?? { kind: "ok", value: { accepted: true, durable: true, item } };
    },
    stream: (_key, cursor, reader) => {
      this.cursors.push(cursor);
      this.reader = reader;
      return () => {
        if (this.reader === reader) this.reader = null;
      };
    },
  };
  readonly clock: Outside["clock"] = {
    nowMs: () => 1000,
    online: () => this.isOnline,
    pause: async (ms) => void this.pauses.push(ms),
  };
  readonly keep: Outside["keep"] = {
    get: (name) => this.kept.get(name) ?? null,
    set: (name, value) => void (value === null ? this.kept.delete(name) : this.kept.set(name, value)),
  };
  readonly newKey = (): string => {
    this.#keys += 1;
    return `c${this.#keys}`;
  };
}
