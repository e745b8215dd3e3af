/**
 * What a simulated gateway meets outside its disk: the lanes' stores, the world its tools act on, the platform its replies go
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

export interface Sent {
  readonly key: string;
  readonly text: string;
}

export interface Outside {
  /** By the name of the store: that of one gateway, or one for each of several. */
  readonly lanes: Readonly<Record<string, readonly unknown[]>>;
  readonly effects: readonly Effect[];
  /** Files of the world that tools write: name to content. */
  readonly files: Readonly<Record<string, string>>;
  /** Jobs that run on elsewhere, whatever becomes of who began them: the action's key to when they end. */
  readonly jobs: Readonly<Record<string, number>>;
  /** What the platform was sent: one line a send. */
  readonly sent: readonly Sent[];
  /** Keys of messages whose senders were told "received". */
  readonly told: readonly string[];
  /** How many effects there had been when each was told first. */
  readonly toldAfter: Readonly<Record<string, number>>;
}

const NOTHING: Outside = { lanes: {}, effects: [], files: {}, jobs: {}, sent: [], told: [], toldAfter: {} };

export function outsideOf(image: DiskImage): Outside {
  return (image.outside as Outside | null) ?? NOTHING;
}

/** The outside as one process reaches it: each change is an operation of that process. */
export class World {
  readonly #calls: Calls;
  readonly #machine: Machine;
  readonly #store: string;

  constructor(machine: Machine, process: SimProcess, store: string) {
    this.#machine = machine;
    this.#calls = new Calls(machine, process);
    this.#store = store;
  }

  get now(): Outside {
    return outsideOf(this.#machine.image);
  }

  /** For memoryLanes: every change of the rows is one commit. */
  lanes(): MemoryRows {
    const name = this.#store;
    const set = (rows: readonly unknown[]): void =>
      this.#calls.now({
        kind: "commit",
        path: "/lanes",
        perform: () => this.#put({ lanes: { ...this.now.lanes, [name]: rows } }),
      });
    const get = (): readonly unknown[] => this.now.lanes[name] ?? [];
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

  /** `recognises`: the platform knows the key again, and shows it once. */
  send(sent: Sent, recognises: boolean): Promise<void> {
    return this.#calls.ask("effect", "/platform/send", () => {
      const known = recognises && this.now.sent.some(({ key }) => key === sent.key);
      if (!known) this.#put({ sent: [...this.now.sent, sent] });
    });
  }

  /** A client hears that its message was received. */
  tell(key: string): Promise<void> {
    return this.#calls.ask("effect", "/client/told", () => {
      const { told, toldAfter, effects } = this.now;
      this.#put({ told: [...told, key], toldAfter: { [key]: effects.length, ...toldAfter } });
    });
  }

  #put(change: Partial<Outside>): void {
    this.#machine.image.outside = { ...this.now, ...change };
  }
}
