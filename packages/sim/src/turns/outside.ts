/**
 * What a simulated gateway meets outside its disk: the lanes' store, the world its tools act on, the platform its replies go
 * to, and the clients that were told something. Kept in the image, so that a death leaves it as it was.
 *
 * Invariant: it is replaced, never changed; who holds an older one holds an older moment.
 */
import type { MemoryRows } from "@holdfast/gateway/internal";
import { Calls } from "../disk/calls.ts";
import type { DiskImage } from "../disk/image.ts";
import type { Machine } from "../disk/machine.ts";
import type { SimProcess } from "../disk/process.ts";

export interface Effect {
  /** The action's key, and what it was about. */
  readonly key: string;
  readonly tool: string;
  readonly about: string;
}

export interface Outside {
  readonly rows: readonly unknown[];
  readonly effects: readonly Effect[];
  /** Files of the world that tools write: name to content. */
  readonly files: Readonly<Record<string, string>>;
  /** What the platform was sent: one line a send. */
  readonly sent: readonly { readonly key: string; readonly text: string }[];
  /** Keys of messages whose senders were told "received". */
  readonly told: readonly string[];
}

const NOTHING: Outside = { rows: [], effects: [], files: {}, sent: [], told: [] };

export function outsideOf(image: DiskImage): Outside {
  return (image.outside as Outside | null) ?? NOTHING;
}

/** The outside as one process reaches it: each change is an operation of that process. */
export class World {
  readonly #calls: Calls;
  readonly #machine: Machine;

  constructor(machine: Machine, process: SimProcess) {
    this.#machine = machine;
    this.#calls = new Calls(machine, process);
  }

  get now(): Outside {
    return outsideOf(this.#machine.image);
  }

  /** For memoryLanes: every change of the rows is one commit. */
  lanes(): MemoryRows {
    const set = (rows: readonly unknown[]): void =>
      this.#calls.now({ kind: "commit", path: "/lanes", perform: () => this.#put({ rows }) });
    const get = (): readonly unknown[] => this.now.rows;
    return {
      get rows() {
        return get();
      },
      set rows(rows) {
        set(rows);
      },
    };
  }

  /** Something happens. */
  act(effect: Effect, change: (now: Outside) => Partial<Outside> = () => ({})): Promise<void> {
    return this.#calls.ask("effect", `/world/${effect.tool}`, () =>
      this.#put({ effects: [...this.now.effects, effect], ...change(this.now) }),
    );
  }

  send(key: string, text: string): Promise<void> {
    return this.#calls.ask("effect", "/platform/send", () => this.#put({ sent: [...this.now.sent, { key, text }] }));
  }

  /** A client hears that its message was received. */
  tell(key: string): Promise<void> {
    return this.#calls.ask("effect", "/client/told", () => this.#put({ told: [...this.now.told, key] }));
  }

  #put(change: Partial<Outside>): void {
    this.#machine.image.outside = { ...this.now, ...change };
  }
}
