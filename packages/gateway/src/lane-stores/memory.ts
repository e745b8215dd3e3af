/** Lanes in memory, for tests: the contract in its plainest form, nothing survives the process. */
import { LIMITS, type World } from "@holdfast/base";
import type { ClaimRequest, ItemQuery, ItemState, LaneItem, LaneStore, NewLaneItem } from "../lanes.ts";

interface Row extends LaneItem {
  readonly state: ItemState;
  readonly holder: string | null;
  readonly leaseUntilMs: number;
  readonly settledMs: number | null;
}

function shown(row: Row): LaneItem {
  const { holder: _holder, leaseUntilMs: _lease, settledMs: _settled, ...item } = row;
  return structuredClone(item);
}

const unfinished = (row: Row): boolean => row.state === "queued" || row.state === "claimed";

/** The oldest unfinished item of its queue. */
function isFirst(row: Row, rows: readonly Row[]): boolean {
  return rows.find((other) => other.lane === row.lane && other.queue === row.queue && unfinished(other)) === row;
}

function newRow(item: NewLaneItem, id: string, nowMs: number): Row {
  return {
    ...structuredClone(item),
    id,
    state: "queued",
    acceptedMs: nowMs,
    notBeforeMs: nowMs,
    claims: 0,
    attempts: 0,
    idleAttempts: 0,
    progress: 0,
    start: null,
    result: null,
    holder: null,
    leaseUntilMs: 0,
    settledMs: null,
  };
}

/** Further ahead than anybody ever asks for is no time but a clock that was set back since. */
const ahead = (atMs: number, nowMs: number, mostMs: number): boolean => atMs > nowMs && atMs <= nowMs + mostMs;

function claimable(row: Row, { lane, nowMs, leaseMs }: ClaimRequest): boolean {
  if (row.lane !== lane || !unfinished(row) || ahead(row.notBeforeMs, nowMs, LIMITS.retryAfterMaxMs)) return false;
  return row.state === "queued" || !ahead(row.leaseUntilMs, nowMs, leaseMs);
}

function selected(row: Row, { lane, queue, states }: ItemQuery): boolean {
  return row.lane === lane && (queue === undefined || row.queue === queue) && (!states || states.includes(row.state));
}

export function memoryLanes(world: World): LaneStore {
  const rows: Row[] = [];
  const change = (id: string, holder: string, patch: Partial<Row>): boolean => {
    const index = rows.findIndex((row) => row.id === id && row.state === "claimed" && row.holder === holder);
    if (index === -1) return false;
    rows[index] = { ...rows[index]!, ...patch };
    return true;
  };

  return {
    async enqueue(item, nowMs) {
      const known = rows.find((row) => row.lane === item.lane && row.key === item.key);
      if (known) return { fresh: false, item: shown(known) };
      const row = newRow(item, world.newId("item"), nowMs);
      rows.push(row);
      return { fresh: true, item: shown(row) };
    },
    async claim(request) {
      const row = rows.find((candidate) => claimable(candidate, request) && isFirst(candidate, rows));
      if (row === undefined) return undefined;
      const leaseUntilMs = request.nowMs + request.leaseMs;
      const claimed: Row = { ...row, state: "claimed", claims: row.claims + 1, holder: request.holder, leaseUntilMs };
      rows[rows.indexOf(row)] = claimed;
      return shown(claimed);
    },
    async renew(id, holder, leaseUntilMs) {
      return change(id, holder, { leaseUntilMs });
    },
    async note(id, holder, patch) {
      return change(id, holder, structuredClone(patch));
    },
    async release(id, holder, notBeforeMs) {
      return change(id, holder, { state: "queued", holder: null, notBeforeMs });
    },
    async settle(id, holder, state, result, nowMs) {
      return change(id, holder, { state, result: structuredClone(result), holder: null, settledMs: nowMs });
    },
    async takeOver(holder, spared = () => false) {
      const other = (row: Row): boolean => row.holder !== null && row.holder !== holder && !spared(row.holder);
      const held = rows.filter((row) => row.state === "claimed" && other(row));
      for (const row of held) rows[rows.indexOf(row)] = { ...row, state: "queued", holder: null };
      return held.length;
    },
    async get(id) {
      const row = rows.find((candidate) => candidate.id === id);
      return row && shown(row);
    },
    async list(query) {
      const found = rows.filter((row) => selected(row, query));
      return found.slice(Math.max(0, found.length - (query.limit ?? found.length))).map(shown);
    },
    async nextDue(lane) {
      const due = rows
        .filter((row) => row.lane === lane && unfinished(row) && isFirst(row, rows))
        .map((row) => (row.state === "claimed" ? row.leaseUntilMs : row.notBeforeMs));
      return due.length > 0 ? Math.min(...due) : null;
    },
    async forget(settledBeforeMs) {
      const kept = rows.filter((row) => row.settledMs === null || row.settledMs >= settledBeforeMs);
      const gone = rows.length - kept.length;
      rows.splice(0, rows.length, ...kept);
      return gone;
    },
    async close() {},
  };
}
