/**
 * What clients asked for and what they were told, in the order in which it happened: the only facts the checker believes.
 * Invariant: nothing in here comes from the disk, and nothing a dead process says is written down.
 */

/** One thing a client asked the engine to do. Times are counts of the history, not clocks. */
export interface Act {
  readonly process: string;
  readonly what:
    | "open"
    | "append"
    | "branch"
    | "update"
    /** Reads everything in every way there is. */
    | "look"
    | "archive"
    | "restore"
    | "reset"
    | "clear"
    | "cleanup"
    | "fork"
    | "import"
    | "repair";
  /** Whose conversation; for a repair the path of a file. */
  readonly key: string;
  /**
   * Ids the client gave, in the order it gave them; for a branch the entry it moves to, for a fork and an import the
   * entries that are copied, for a repair those that are sound, for a restore the session, where it was asked for by its id.
   */
  readonly ids: readonly string[];
  /** The value of an update. */
  readonly value?: string;
  readonly askedAt: number;
  /** Undefined: nobody ever heard. */
  readonly told?: Told;
}

export interface Told {
  readonly at: number;
  /** Undefined: it was refused. */
  readonly done?: Done;
  /** The code of the refusal. */
  readonly refused?: string;
}

export interface Done {
  /** Which transcript. */
  readonly sessionId: string;
  readonly entries: readonly { readonly id: string; readonly parentId: string | null }[];
  /** Where the conversation stands now, if the act says so; `gone`: nowhere, the key is free. */
  readonly place?: "live" | "archived" | "gone";
  /** The session that does not come back by itself from now on. */
  readonly ended?: string;
  /** Paths of files that were made. */
  readonly files?: readonly string[];
}

/** When its client was told; never: later than everything. */
export function toldAt(act: Act): number {
  return act.told?.at ?? Number.POSITIVE_INFINITY;
}

export function isTold(act: Act): boolean {
  return act.told?.done !== undefined;
}

export type Asked = Omit<Act, "askedAt" | "told">;

export class History {
  #acts: readonly Act[];
  #now: number;

  constructor(acts: readonly Act[] = [], now = 0) {
    this.#acts = acts;
    this.#now = now;
  }

  get acts(): readonly Act[] {
    return this.#acts;
  }

  /** The history up to now, to be gone on with elsewhere. Costs nothing. */
  clone(): History {
    return new History(this.#acts, this.#now);
  }

  /** Writes down the question; call the result with the answer. */
  ask(asked: Asked): (told: Omit<Told, "at">) => void {
    const act: Act = { ...asked, askedAt: ++this.#now };
    const index = this.#acts.length;
    this.#acts = [...this.#acts, act];
    return (told) => {
      this.#acts = this.#acts.with(index, { ...act, told: { ...told, at: ++this.#now } });
    };
  }

  /** Equal for histories that promise the same. */
  fingerprint(): string {
    return JSON.stringify(this.#acts.map(({ told, ...asked }) => [asked, told?.done ?? told?.refused ?? null]));
  }
}
