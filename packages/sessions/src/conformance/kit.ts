/**
 * What the cases are made of: data, so that any test runner can run them over any store.
 * Invariant: a case makes its own fixture, disposes of it, and knows nothing of the store but the contract.
 */
import { strict as assert } from "node:assert";
import type { Header } from "../entry.ts";
import { forward } from "../reading/lines.ts";
import type { Committed, LogRef, Position, Reading, SessionStore, Since, Unstamped } from "../store.ts";

/** A fresh, empty store. */
export interface StoreFixture extends AsyncDisposable {
  readonly store: SessionStore;
  /** Another object over the same data, as another process would have it; null where nothing is shared. */
  readonly second: (() => Promise<SessionStore>) | null;
  /** Moves the store's clock on. */
  advance(ms: number): void;
}

export interface StoreCase {
  readonly name: string;
  /** Fails by throwing. */
  run(make: () => Promise<StoreFixture>): Promise<void>;
}

/** Declares a case over one fixture. */
export function storeCase(name: string, body: (fixture: StoreFixture) => Promise<void>): StoreCase {
  return {
    name,
    async run(make) {
      await using fixture = await make();
      await body(fixture);
    },
  };
}

export const LOG: LogRef = {
  id: "01990000-0000-7000-8000-000000000001",
  file: "01990000-0000-7000-8000-000000000001.jsonl",
};
const TIMESTAMP = "2026-01-02T03:04:05.678Z";
const HEADER: Header = { type: "session", version: 3, id: LOG.id, timestamp: TIMESTAMP };

/** A small complete entry. */
export function note(id: string, parentId: string | null, more: Readonly<Record<string, unknown>> = {}): Unstamped {
  return { type: "custom", customType: "test:note", id, parentId, timestamp: TIMESTAMP, ...more };
}

/** Begins the log with one entry, `root`. */
export async function begin(store: SessionStore): Promise<Position> {
  assert.equal(await store.create(LOG, HEADER, [note("root", null)]), "created");
  return here(store);
}

/** The end of the log now. */
export async function here(store: SessionStore): Promise<Position> {
  await using reading = await there(store);
  return reading.position;
}

/** What happened to the log since a position. */
export async function sinceOf(store: SessionStore, position: Position): Promise<Since> {
  await using reading = await there(store, position);
  return reading.since;
}

export async function there(store: SessionStore, since?: Position): Promise<Reading> {
  const reading = await store.read(LOG, since);
  assert.ok(reading, "the log is there");
  return reading;
}

/** All lines of the log, parsed. */
export async function linesOf(store: SessionStore): Promise<readonly Record<string, unknown>[]> {
  await using reading = await there(store);
  const lines: Record<string, unknown>[] = [];
  for await (const { bytes } of forward(reading.source)) lines.push(JSON.parse(String(bytes)));
  return lines;
}

export async function idsOf(store: SessionStore): Promise<readonly unknown[]> {
  return (await linesOf(store)).map((line) => (line.type === "session" ? "header" : line.id));
}

export function committed(outcome: Committed): Committed & { kind: "committed" } {
  assert.equal(outcome.kind, "committed");
  return outcome as Committed & { kind: "committed" };
}

export { assert, HEADER };
