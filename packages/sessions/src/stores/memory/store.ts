/**
 * The session store in memory, for tests and for conversations that need not last.
 * Invariant: the same rules as the file store (`conformance/`); only durability and other processes are missing.
 */
import type { World } from "@holdfast/base";
import { Newest } from "../../newest.ts";
import type { SessionStore } from "../../store.ts";
import type { ListedSession, ListQuery, SessionRow } from "../../types.ts";
import { MemoryLogs } from "./logs.ts";

export function memoryStore(world: World): SessionStore {
  return new MemoryStore(world);
}

class MemoryStore extends MemoryLogs implements SessionStore {
  readonly supports = { durable: false, shared: false, files: false };
  readonly #rows = new Map<string, SessionRow>();
  readonly #newest = new Newest(this.#rows);

  async get(key: string): Promise<SessionRow | undefined> {
    return structuredClone(this.#rows.get(key));
  }

  async update(
    key: string,
    change: (row: SessionRow | undefined) => SessionRow | undefined | null,
  ): Promise<SessionRow | undefined> {
    const after = change(structuredClone(this.#rows.get(key))) ?? undefined;
    if (after === undefined) this.#rows.delete(key);
    else this.#rows.set(key, structuredClone(after));
    this.#newest.wrote(key);
    return after;
  }

  async list(query: ListQuery = {}): Promise<readonly ListedSession[]> {
    return this.#newest.list(query).map(({ key, row }) => ({ key, row: structuredClone(row) }));
  }

  async scrub(): Promise<boolean> {
    return true;
  }

  async close(): Promise<void> {}
}
