/**
 * Where the entries of one log stand, as one session object knows it: made when first asked for, then carried on.
 *
 * Kept beside the log by stores that can (`Reading.sidecar`), so that the next process need not read everything either.
 * Invariant: an answer never depends on what was kept. What was kept and what the log says are compared whenever an
 * entry is read; where they differ the index is made anew from the log, and if that differs too the log is read whole.
 */
import type { ByteSource } from "../reading/source.ts";
import type { Position, Reading } from "../store.ts";
import { LineIndex } from "./line-index.ts";
import { type Outline, outlineOfIndex, outlineOfWhole, WrongPlace } from "./outline.ts";

/** How far what is known may be believed: what was kept, or only what this object read, or nothing but the whole log. */
type Trust = "kept" | "read" | "whole";

/** May be called again, and must only read. `life`: another number when what was read before counts no longer. */
type Query<T> = (tree: Outline, source: ByteSource, life: number) => Promise<T>;

export class Places {
  readonly #open: (since?: Position) => Promise<Reading>;
  #index: LineIndex | undefined;
  #position: Position | undefined;
  #trust: Trust = "kept";
  /**
   * An odd log as it was read, as long as it stays as it is: a record for each entry, some hundred bytes, kept so that the
   * next question does not read everything again.
   */
  #whole: { readonly tree: Outline; readonly size: number; lend(source: ByteSource): void } | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #life = 0;

  /** `open` reads the log as it is now, and throws where there is none. */
  constructor(open: (since?: Position) => Promise<Reading>) {
    this.#open = open;
  }

  /** Asks about the log as it is now. One question after the other; `query` may be called again and must only read. */
  run<T>(query: Query<T>): Promise<T> {
    const answer = this.#last.then(() => this.#run(query));
    this.#last = answer.catch(() => {});
    return answer;
  }

  /**
   * Where the line of an entry ends that stands before the byte `before`, if that is known without reading the log.
   * A hint: look there, and elsewhere if it is not there.
   */
  async endOf(id: string, before: number): Promise<number | undefined> {
    this.#index ??= await this.#keptNow();
    if (this.#index === undefined) return undefined;
    return this.run((tree) => endBefore(tree, id, before));
  }

  /**
   * The log is known to have reached this position by nothing but growth, so what was added need not be told from a rewrite
   * once more: that costs two readings of its end.
   */
  reached(position: Position): void {
    if (this.#position !== undefined) this.#position = position;
  }

  async #keptNow(): Promise<LineIndex | undefined> {
    await using now = await this.#open();
    this.#life += 1;
    this.#position = now.position;
    this.#whole = undefined;
    return this.#kept(now);
  }

  async #run<T>(query: Query<T>): Promise<T> {
    await using now = await this.#open(this.#position);
    if (now.since === "rewritten") this.#forget("read");
    for (;;) {
      const tree = await this.#outline(now);
      try {
        return await query(tree, now.source, this.#life);
      } catch (error) {
        if (!(error instanceof WrongPlace) || this.#trust === "whole") throw error;
        this.#forget(this.#trust === "kept" ? "read" : "whole");
      }
    }
  }

  #forget(trust: Trust): void {
    this.#life += 1;
    this.#index = undefined;
    this.#trust = trust;
  }

  async #outline(now: Reading): Promise<Outline> {
    const index = this.#trust === "whole" ? undefined : await this.#upToDate(now);
    const isOdd = index === undefined || index.isOdd;
    const tree = isOdd ? await this.#wholeOf(now) : outlineOfIndex(index, now.source);
    this.#position = now.position;
    return tree;
  }

  async #wholeOf({ source, since }: Reading): Promise<Outline> {
    const there = since === "none" && this.#whole?.size === source.size ? this.#whole : undefined;
    this.#whole = undefined;
    const lent = there ?? (await readLent(source));
    lent.lend(source);
    this.#whole = lent;
    return lent.tree;
  }

  async #upToDate(now: Reading): Promise<LineIndex> {
    const there = this.#index;
    this.#index = undefined;
    // Kept only when it is complete: a question that fails half-way leaves nothing behind.
    if (there !== undefined && (await there.extend(now.source))) {
      this.#index = there;
      return there;
    }
    const index = (await this.#kept(now)) ?? LineIndex.empty();
    const known = index.covered;
    await index.extend(now.source);
    if (known === 0) await keep(now, index);
    this.#index = index;
    return index;
  }

  async #kept(now: Reading): Promise<LineIndex | undefined> {
    const slots = this.#trust === "kept" ? await now.sidecar?.load() : undefined;
    return slots && LineIndex.restored(slots, now.source.size, now.source);
  }
}

/** The same of a tree that is at hand. */
export async function endBefore(tree: Outline, id: string, before: number): Promise<number | undefined> {
  const node = tree.hasOddities ? -1 : await tree.find(id);
  return node === -1 || tree.endOf(node) > before ? undefined : tree.endOf(node);
}

async function keep(now: Reading, index: LineIndex): Promise<void> {
  const isWhole = index.covered === now.source.size && !index.isLoose && !index.isOdd;
  if (isWhole) await now.sidecar?.keep(index.slots);
}

/** Everything, read from `source`, and from then on from the source that is lent for each question. */
async function readLent(source: ByteSource) {
  let now = source;
  const { size } = source;
  const tree = await outlineOfWhole({ size, read: (offset, length) => now.read(offset, length) });
  return {
    tree,
    size,
    lend(next: ByteSource): void {
      now = next;
    },
  };
}
