/** Lanes in memory, for tests: the contract in its plainest form, nothing survives the process. */
import { LIMITS, type World } from "@holdfast/base";
import type { Change, ClaimRequest, ItemQuery, ItemState, LaneItem, LaneStore, NewLaneItem } from "../lanes.ts";

interface Row extends LaneItem {
  readonly state: ItemState;
  readonly holder: string | null;
  readonly leaseUntilMs: number;
  readonly endedMs: number | null;
}

function shown(row: Row): LaneItem {
  const { holder: _holder, leaseUntilMs: _lease, endedMs: _ended, ...item } = row;
  return structuredClone(item);
}

const open = (row: Row): boolean => row.state === "queued" || row.state === "claimed";

/** The oldest open item of its queue, and not waiting for the turn into which it was taken. */
function isFirst(row: Row, rows: readonly Row[]): boolean {
  const into = rows.find((other) => other.id === row.joined);
  if (into !== undefined && (open(into) || into.state === "waiting")) return false;
  return rows.find((other) => other.lane === row.lane && other.queue === row.queue && open(other)) === row;
}

function newRow({ notBeforeMs, ...item }: NewLaneItem, id: string, nowMs: number): Row {
  return {
    ...structuredClone(item),
    id,
    state: "queued",
    acceptedMs: nowMs,
    notBeforeMs: notBeforeMs ?? nowMs,
    claims: 0,
    attempts: 0,
    idleAttempts: 0,
    progress: 0,
    start: null,
    joined: null,
    result: null,
    holder: null,
    leaseUntilMs: 0,
    endedMs: null,
  };
}

/** Further ahead than anybody ever asks for is no time but a clock that was set back since. */
const ahead = (atMs: number, nowMs: number, mostMs: number): boolean => atMs > nowMs && atMs <= nowMs + mostMs;

function claimable(row: Row, { lane, nowMs, leaseMs }: ClaimRequest): boolean {
  if (row.lane !== lane || !open(row) || ahead(row.notBeforeMs, nowMs, LIMITS.retryAfterMaxMs)) return false;
  return row.state === "queued" || !ahead(row.leaseUntilMs, nowMs, leaseMs);
}

/** Somebody works on a later item of its queue, which passed this one while it was parked. */
function isPassed(row: Row, rows: readonly Row[], { nowMs, leaseMs }: ClaimRequest): boolean {
  return rows.some(
    (other) =>
      other !== row &&
      other.lane === row.lane &&
      other.queue === row.queue &&
      other.state === "claimed" &&
      ahead(other.leaseUntilMs, nowMs, leaseMs),
  );
}

function selected(row: Row, { lane, queue, states }: ItemQuery): boolean {
  return row.lane === lane && (queue === undefined || row.queue === queue) && (!states || states.includes(row.state));
}

type OfItem = Exclude<Change, { readonly kind: "enqueue" }>;

/** What the change makes of its item; undefined when it is not possible. */
function changed(
  row: Row,
  change: OfItem,
  { rows, holder, nowMs }: { readonly rows: readonly Row[]; readonly holder: string | null; readonly nowMs: number },
): Partial<Row> | undefined {
  const mine = row.state === "claimed" && row.holder === holder;
  const free = row.state === "queued" || row.state === "waiting";
  const heldInto = (id: string | null): boolean =>
    rows.some((other) => other.id === id && other.state === "claimed" && other.holder === holder);
  const ended = { holder: null, endedMs: nowMs };
  switch (change.kind) {
    case "note":
      return mine ? change.patch : undefined;
    case "release":
      return mine ? { state: "queued", holder: null, notBeforeMs: change.notBeforeMs } : undefined;
    case "park":
      return mine ? { state: "waiting", holder: null, result: change.result } : undefined;
    case "settle":
      return mine ? { ...ended, state: change.state, result: change.result } : undefined;
    case "join":
      return row.state === "queued" && heldInto(change.into)
        ? { joined: change.into, start: row.start ?? change.start }
        : undefined;
    case "settleJoined":
      return row.state === "queued" && heldInto(row.joined)
        ? { ...ended, state: change.state, result: change.result }
        : undefined;
    case "wake":
      return row.state === "waiting" ? { state: "queued", notBeforeMs: nowMs, result: null } : undefined;
    case "drop":
      return free ? { ...ended, state: "dropped", result: change.result } : undefined;
    case "amend":
      return row.state === "queued" && row.start === null ? { body: change.body } : undefined;
    case "delay":
      return row.state === "queued" && row.start === null && row.notBeforeMs < change.notBeforeMs
        ? { notBeforeMs: change.notBeforeMs }
        : undefined;
    default:
      return change satisfies never;
  }
}

/** The rows after the change, or undefined when it is not possible. */
function after(
  rows: readonly Row[],
  change: Change,
  by: { readonly holder: string | null; readonly nowMs: number; readonly world: World },
): readonly Row[] | undefined {
  if (change.kind === "enqueue") {
    const { item } = change;
    const known = rows.some((row) => row.lane === item.lane && row.key === item.key);
    return known ? rows : [...rows, newRow(item, by.world.newId("item"), by.nowMs)];
  }
  const row = rows.find(({ id }) => id === change.id);
  const patch = row && changed(row, change, { rows, ...by });
  return patch && rows.map((each) => (each === row ? { ...each, ...structuredClone(patch) } : each));
}

/** When the item may be claimed, as far as its queue goes. */
function dueMs(row: Row, rows: readonly Row[]): number {
  const busy = rows.filter(
    (other) => other.lane === row.lane && other.queue === row.queue && other.state === "claimed",
  );
  return Math.max(row.state === "claimed" ? 0 : row.notBeforeMs, ...busy.map((other) => other.leaseUntilMs));
}

/** Where the rows are: replaced whole by every change, so that a change is one step. */
export interface MemoryRows {
  rows: readonly unknown[];
}

export function memoryLanes(world: World, memory: MemoryRows = { rows: [] }): LaneStore {
  // Only this file puts rows in.
  const kept = memory as { rows: readonly Row[] };

  const patched = (id: string, holder: string, patch: Partial<Row>): boolean => {
    const row = kept.rows.find((each) => each.id === id && each.state === "claimed" && each.holder === holder);
    if (row !== undefined) kept.rows = kept.rows.map((each) => (each === row ? { ...each, ...patch } : each));
    return row !== undefined;
  };

  return {
    async enqueue(item, nowMs, also = []) {
      const known = kept.rows.find((row) => row.lane === item.lane && row.key === item.key);
      if (known) return { fresh: false, item: shown(known) };
      const row = newRow(item, world.newId("item"), nowMs);
      kept.rows = [...kept.rows, row];
      for (const change of also) kept.rows = after(kept.rows, change, { holder: null, nowMs, world }) ?? kept.rows;
      return { fresh: true, item: shown(row) };
    },
    async claim(request) {
      const row = kept.rows.find(
        (candidate) =>
          claimable(candidate, request) && isFirst(candidate, kept.rows) && !isPassed(candidate, kept.rows, request),
      );
      if (row === undefined) return undefined;
      const leaseUntilMs = request.nowMs + request.leaseMs;
      const claimed: Row = { ...row, state: "claimed", claims: row.claims + 1, holder: request.holder, leaseUntilMs };
      kept.rows = kept.rows.map((each) => (each === row ? claimed : each));
      return shown(claimed);
    },
    async renew(id, holder, leaseUntilMs) {
      return patched(id, holder, { leaseUntilMs });
    },
    async commit(holder, changes, nowMs) {
      let rows: readonly Row[] | undefined = kept.rows;
      for (const change of changes) rows = rows && after(rows, change, { holder, nowMs, world });
      if (rows === undefined) return false;
      kept.rows = rows;
      return true;
    },
    async takeOver(holder, spared = () => false) {
      const other = (row: Row): boolean => row.holder !== null && row.holder !== holder && !spared(row.holder);
      const held = (row: Row): boolean => row.state === "claimed" && other(row);
      const count = kept.rows.filter(held).length;
      kept.rows = kept.rows.map((row) => (held(row) ? { ...row, state: "queued" as const, holder: null } : row));
      return count;
    },
    async get(id) {
      const row = kept.rows.find((candidate) => candidate.id === id);
      return row && shown(row);
    },
    async list(query) {
      const found = kept.rows.filter((row) => selected(row, query));
      return found.slice(Math.max(0, found.length - (query.limit ?? found.length))).map(shown);
    },
    async nextDue(lane) {
      const due = kept.rows
        .filter((row) => row.lane === lane && open(row) && isFirst(row, kept.rows))
        .map((row) => dueMs(row, kept.rows));
      return due.length > 0 ? Math.min(...due) : null;
    },
    async forget(endedBeforeMs) {
      const before = kept.rows.length;
      kept.rows = kept.rows.filter((row) => row.endedMs === null || row.endedMs >= endedBeforeMs);
      return before - kept.rows.length;
    },
    async close() {},
  };
}
