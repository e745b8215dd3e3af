/**
 * What the lanes say to SQLite: finding the next item, and every kind of change as one statement.
 *
 * Invariant: text of items is bound, never spliced into SQL; a change that is not possible touches no row.
 */
import type { SQLOutputValue, StatementSync } from "node:sqlite";
import { type JsonObject, LIMITS } from "@holdfast/base";
import type { ClaimRequest, ItemPatch, ItemQuery, ItemState, Lane, LaneItem } from "../../lanes.ts";
import type { NamedChange, NamedItem } from "./steps.ts";

/** Said in full wherever it is meant: only so are the partial indexes used, and what has ended is never looked at. */
const OPEN = "state in ('queued', 'claimed')";
/** The oldest open item of its queue, and not waiting for the turn into which it was taken. */
const FIRST = `not exists (
  select 1 from items as earlier
  where earlier.lane = item.lane and earlier.queue = item.queue and earlier.seq < item.seq and earlier.${OPEN}
) and not exists (
  select 1 from items as host where host.id = item.joined and host.state in ('queued', 'claimed', 'waiting')
)`;
/** Nobody is at work on a later item of its queue. */
const FREE = `not exists (
  select 1 from items as busy
  where busy.lane = item.lane and busy.queue = item.queue and busy.seq > item.seq and busy.${OPEN}
    and busy.state = 'claimed' and busy.lease_until_ms > :now and busy.lease_until_ms <= :now + :lease
)`;
/** Further ahead than anybody ever asks for is no time but a clock that was set back since. */
const DUE = "(not_before_ms <= :now or not_before_ms > :now + :delayMax)";
const EXPIRED = "(lease_until_ms <= :now or lease_until_ms > :now + :lease)";
const oldest = (where: string): string =>
  `select * from (select seq from items as item where lane = :lane and ${where} and ${DUE} and ${FIRST} and ${FREE} order by seq limit 1)`;
/** The oldest item that may be worked on now: one that waits, or one whose holder has let its lease run out. */
export const NEXT = `
${oldest("state = 'queued'")} union all ${oldest(`state = 'claimed' and ${EXPIRED}`)}
order by seq limit 1`;
const CLAIM = `
update items set state = 'claimed', claims = claims + 1, holder = :holder, lease_until_ms = :until
where seq = (${NEXT}) returning *`;
const MINE = "id = :id and state = 'claimed' and holder = :holder";
export const RENEW = `update items set lease_until_ms = :until where ${MINE}`;

/** Gives the prepared statement of a text. */
export type Prepare = (text: string) => StatementSync;
type Row = Record<string, SQLOutputValue>;
export type Values = Record<string, string | number | null>;

function text(row: Row, name: string): string {
  return String(row[name]);
}
function number(row: Row, name: string): number {
  return Number(row[name]);
}
function json<T>(row: Row, name: string): T {
  return JSON.parse(text(row, name)) as T;
}

export function itemOf(row: Row): LaneItem {
  return {
    id: text(row, "id"),
    lane: text(row, "lane") as Lane,
    key: text(row, "key"),
    queue: text(row, "queue"),
    body: json<JsonObject>(row, "body"),
    state: text(row, "state") as ItemState,
    acceptedMs: number(row, "accepted_ms"),
    notBeforeMs: number(row, "not_before_ms"),
    claims: number(row, "claims"),
    attempts: number(row, "attempts"),
    idleAttempts: number(row, "idle_attempts"),
    progress: number(row, "progress"),
    start: row.start === null ? null : json(row, "start"),
    joined: row.joined === null ? null : text(row, "joined"),
    result: row.result === null ? null : json(row, "result"),
  };
}

export function withKey(sql: Prepare, { lane, key }: Pick<LaneItem, "lane" | "key">): LaneItem {
  return itemOf(sql("select * from items where lane = :lane and key = :key").get({ lane, key })!);
}

const BUSY_UNTIL = `select max(lease_until_ms) from items as busy
  where busy.lane = item.lane and busy.queue = item.queue and busy.${OPEN} and busy.state = 'claimed'`;
export const NEXT_DUE = `
select min(max(case state when 'claimed' then 0 else not_before_ms end, coalesce((${BUSY_UNTIL}), 0))) as due
from items as item where lane = :lane and ${OPEN} and ${FIRST}`;

export function earliest(sql: Prepare, lane: Lane): number | null {
  const row = sql(NEXT_DUE).get({ lane });
  return row === undefined || row.due === null ? null : Number(row.due);
}

export const GIVE_BACK = "update items set state = 'queued', holder = null where state = 'claimed' and holder = :other";

export function otherHolders(sql: Prepare, holder: string): readonly string[] {
  const claimed = "select distinct holder from items where state = 'claimed' and holder <> :holder";
  return sql(claimed)
    .all({ holder })
    .map((row) => text(row, "holder"));
}

export const INSERT = `insert into items (id, lane, key, queue, body, state, accepted_ms, not_before_ms)
values (:id, :lane, :key, :queue, :body, 'queued', :now, :notBefore) on conflict (lane, key) do nothing`;

export function newRow(item: NamedItem, nowMs: number): Record<string, string | number> {
  const { id, lane, key, queue } = item;
  const notBefore = item.notBeforeMs ?? nowMs;
  return { id, lane, key, queue, body: JSON.stringify(item.body), now: nowMs, notBefore };
}

const NOTE = `start = coalesce(:start, start), attempts = coalesce(:attempts, attempts),
  idle_attempts = coalesce(:idleAttempts, idle_attempts), progress = coalesce(:progress, progress)`;
const ENDED = "state = :state, result = :result, holder = null, settled_ms = :now";
/** An item that this holder has claimed. */
const held = (id: string): string =>
  `exists (select 1 from items as host where host.id = ${id} and host.state = 'claimed' and host.holder = :holder)`;

/** One change as a statement that touches one row where it is possible, else none. */
export function statementOf(
  change: Exclude<NamedChange, { readonly kind: "enqueue" }>,
  { holder, nowMs }: { readonly holder: string | null; readonly nowMs: number },
): [statement: string, values: Values] {
  const { id } = change;
  const update = (set: string, where: string, values: Values): [string, Values] => [
    `update items set ${set} where ${where}`,
    { id, ...values },
  ];
  switch (change.kind) {
    case "note":
      return update(NOTE, MINE, { holder, ...noted(change.patch) });
    case "release":
      return update("state = 'queued', holder = null, not_before_ms = :notBefore", MINE, {
        holder,
        notBefore: change.notBeforeMs,
      });
    case "park":
      return update("state = 'waiting', holder = null, result = :result", MINE, {
        holder,
        result: JSON.stringify(change.result),
      });
    case "settle":
      return update(ENDED, MINE, { holder, now: nowMs, state: change.state, result: JSON.stringify(change.result) });
    case "join":
      return update(
        "joined = :into, start = coalesce(start, :start)",
        `id = :id and state = 'queued' and ${held(":into")}`,
        {
          holder,
          into: change.into,
          start: JSON.stringify(change.start),
        },
      );
    case "settleJoined":
      return update(ENDED, `id = :id and state = 'queued' and ${held("items.joined")}`, {
        holder,
        now: nowMs,
        state: change.state,
        result: JSON.stringify(change.result),
      });
    case "wake":
      return update("state = 'queued', not_before_ms = :now, result = null", "id = :id and state = 'waiting'", {
        now: nowMs,
      });
    case "drop":
      return update(ENDED, "id = :id and state in ('queued', 'waiting')", {
        now: nowMs,
        state: "dropped",
        result: JSON.stringify(change.result),
      });
    case "amend":
      return update("body = :body", "id = :id and state = 'queued' and start is null", {
        body: JSON.stringify(change.body),
      });
    case "delay":
      return update(
        "not_before_ms = :notBefore",
        "id = :id and state = 'queued' and start is null and not_before_ms < :notBefore",
        { notBefore: change.notBeforeMs },
      );
    default:
      return change satisfies never;
  }
}

function noted(patch: ItemPatch): Record<string, string | number | null> {
  return {
    start: patch.start ? JSON.stringify(patch.start) : null,
    attempts: patch.attempts ?? null,
    idleAttempts: patch.idleAttempts ?? null,
    progress: patch.progress ?? null,
  };
}

export function listed(sql: Prepare, query: ItemQuery): LaneItem[] {
  const queue = query.queue === undefined ? "" : "and queue = :queue";
  const states = (query.states ?? []).map((_, index) => `:state${index}`);
  const inStates = states.length > 0 ? `and state in (${states.join(", ")})` : "";
  const values: Record<string, string | number> = { lane: query.lane, limit: query.limit ?? -1 };
  if (query.queue !== undefined) values.queue = query.queue;
  for (const [index, state] of (query.states ?? []).entries()) values[`state${index}`] = state;
  const rows = sql(`select * from items where lane = :lane ${queue} ${inStates} order by seq desc limit :limit`).all(
    values,
  );
  return rows.map(itemOf).reverse();
}

/** Takes the next item; looks first, since looking is not writing: an idle gateway leaves the disk alone. */
export function claimNext(sql: Prepare, { lane, holder, nowMs, leaseMs }: ClaimRequest): LaneItem | undefined {
  const time = { now: nowMs, lease: leaseMs, delayMax: LIMITS.retryAfterMaxMs };
  if (sql(NEXT).get({ lane, ...time }) === undefined) return undefined;
  const row = sql(CLAIM).get({ lane, holder, ...time, until: nowMs + leaseMs });
  return row && itemOf(row);
}
