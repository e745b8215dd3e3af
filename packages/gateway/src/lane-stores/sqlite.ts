/**
 * Lanes in one SQLite file: WAL with synchronous FULL, so that what `enqueue` acknowledged survives a power loss.
 * Each method is one statement or one immediate transaction. Text of items is bound, never spliced into SQL.
 */
import { chmodSync, statSync } from "node:fs";
import { DatabaseSync, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { type JsonObject, LIMITS, messageOf, type World } from "@holdfast/base";
import { GatewayError } from "../errors.ts";
import type {
  ClaimRequest,
  ItemPatch,
  ItemQuery,
  ItemState,
  Lane,
  LaneItem,
  LaneStore,
  NewLaneItem,
} from "../lanes.ts";

const VERSION = 1;
const BUSY_TIMEOUT_MS = 5_000;

const SCHEMA = `
create table items (
  seq integer primary key autoincrement,
  id text not null unique,
  lane text not null,
  key text not null,
  queue text not null,
  body text not null,
  state text not null check (state in ('queued', 'claimed', 'done', 'failed')),
  accepted_ms integer not null,
  not_before_ms integer not null,
  settled_ms integer,
  claims integer not null default 0,
  attempts integer not null default 0,
  idle_attempts integer not null default 0,
  progress integer not null default 0,
  start text,
  result text,
  holder text,
  lease_until_ms integer not null default 0,
  unique (lane, key)
) strict;
create index items_open on items (lane, queue, seq) where state in ('queued', 'claimed');
create index items_settled on items (settled_ms) where settled_ms is not null;
pragma user_version = ${VERSION};
`;

const OPEN = "state in ('queued', 'claimed')";
const FIRST = `not exists (
  select 1 from items as earlier
  where earlier.lane = item.lane and earlier.queue = item.queue and earlier.seq < item.seq and earlier.${OPEN}
)`;
/** Further ahead than anybody ever asks for is no time but a clock that was set back since. */
const DUE = "(not_before_ms <= :now or not_before_ms > :now + :delayMax)";
const EXPIRED = "(lease_until_ms <= :now or lease_until_ms > :now + :lease)";
/** The oldest open item of each queue, if it may be worked on now. */
const NEXT = `
select seq from items as item
where lane = :lane and ${OPEN} and ${DUE} and (state = 'queued' or ${EXPIRED}) and ${FIRST}
order by seq limit 1`;
const CLAIM = `
update items set state = 'claimed', claims = claims + 1, holder = :holder, lease_until_ms = :until
where seq = (${NEXT}) returning *`;
const MINE = "id = :id and state = 'claimed' and holder = :holder";

type Row = Record<string, SQLOutputValue>;

function text(row: Row, name: string): string {
  return String(row[name]);
}
function number(row: Row, name: string): number {
  return Number(row[name]);
}
function json<T>(row: Row, name: string): T {
  return JSON.parse(text(row, name)) as T;
}

function itemOf(row: Row): LaneItem {
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
    result: row.result === null ? null : json(row, "result"),
  };
}

function open(path: string): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    chmodSync(path, 0o600);
    db.exec("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on;");
    const version = Number(db.prepare("pragma user_version").get()?.user_version);
    if (version > VERSION) throw new Error(`it was written by a newer version (${version})`);
    if (version === 0) db.exec(`begin immediate; ${SCHEMA} commit;`);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Device and inode, or null: SQLite goes on writing into a file that has no name any more. */
function inodeOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

/** Throws `lanes_gone`, after `undo`, once a file of the database is not the one that was opened. */
function placeCheck(path: string): (undo?: () => unknown) => void {
  const files = [path, `${path}-wal`].map((file) => ({ file, inode: inodeOf(file) }));
  return (undo = () => undefined) => {
    const gone = files.find(({ file, inode }) => inodeOf(file) !== inode);
    if (gone === undefined) return;
    undo();
    throw new GatewayError("lanes_gone", { file: gone.file });
  };
}

/** A write, with SQLite's reason in our error. A failed statement changes nothing. */
function attempt<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw new GatewayError("lane_write_failed", { why: messageOf(error) }, error);
  }
}

/** Prepares each statement once. */
function statements(db: DatabaseSync): (sql: string) => StatementSync {
  const prepared = new Map<string, StatementSync>();
  return (sql) => {
    const known = prepared.get(sql) ?? db.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
}

/** Opens or makes the file (0600). Throws `lanes_unusable`. */
export function sqliteLanes(path: string, world: World): LaneStore {
  let db: DatabaseSync;
  try {
    db = open(path);
  } catch (error) {
    throw new GatewayError("lanes_unusable", { file: path, why: messageOf(error) }, error);
  }
  const sql = statements(db);
  const checkInPlace = placeCheck(path);
  const written = (statement: string, values: Record<string, string | number | null>): number => {
    world.at("lane:before-write");
    const { changes } = attempt(() => sql(statement).run(values));
    world.at("lane:after-write");
    return Number(changes);
  };

  return {
    async enqueue(item, nowMs) {
      if (item.lane === "main") checkInPlace();
      const fresh = written(INSERT, newRow(item, nowMs, world)) === 1;
      const row = sql("select * from items where lane = :lane and key = :key").get({ lane: item.lane, key: item.key });
      const queued = itemOf(row!);
      // What is acknowledged must be where the next process looks for it; what is refused must not run.
      if (item.lane === "main")
        checkInPlace(() => fresh && written(`delete from items where id = :id`, { id: queued.id }));
      return { fresh, item: queued };
    },
    async claim(request) {
      return claimNext(sql, world, request);
    },
    async renew(id, holder, leaseUntilMs) {
      return (
        written(`update items set lease_until_ms = :until where ${MINE}`, { id, holder, until: leaseUntilMs }) === 1
      );
    },
    async note(id, holder, patch) {
      return written(NOTE, { id, holder, ...noted(patch) }) === 1;
    },
    async release(id, holder, notBeforeMs) {
      const set = "state = 'queued', holder = null, not_before_ms = :notBefore";
      return written(`update items set ${set} where ${MINE}`, { id, holder, notBefore: notBeforeMs }) === 1;
    },
    async settle(id, holder, state, result, nowMs) {
      const values = { id, holder, state, result: JSON.stringify(result), now: nowMs };
      const set = "state = :state, result = :result, holder = null, settled_ms = :now";
      return written(`update items set ${set} where ${MINE}`, values) === 1;
    },
    async takeOver(holder, spared = () => false) {
      const others = otherHolders(sql, holder).filter((other) => !spared(other));
      return others.reduce((total, other) => total + written(GIVE_BACK, { other }), 0);
    },
    async get(id) {
      const row = sql("select * from items where id = :id").get({ id });
      return row && itemOf(row);
    },
    async list(query) {
      return listed(sql, query);
    },
    async nextDue(lane) {
      const due = "min(case state when 'claimed' then lease_until_ms else not_before_ms end) as due";
      const row = sql(`select ${due} from items as item where lane = :lane and ${OPEN} and ${FIRST}`).get({ lane });
      return row === undefined || row.due === null ? null : Number(row.due);
    },
    async forget(settledBeforeMs) {
      return written("delete from items where settled_ms < :before", { before: settledBeforeMs });
    },
    close: async () => db.close(),
  };
}

const GIVE_BACK = "update items set state = 'queued', holder = null where state = 'claimed' and holder = :other";

function otherHolders(sql: (text: string) => StatementSync, holder: string): readonly string[] {
  const claimed = "select distinct holder from items where state = 'claimed' and holder <> :holder";
  return sql(claimed)
    .all({ holder })
    .map((row) => text(row, "holder"));
}

const INSERT = `insert into items (id, lane, key, queue, body, state, accepted_ms, not_before_ms)
values (:id, :lane, :key, :queue, :body, 'queued', :now, :now) on conflict (lane, key) do nothing`;

function newRow(item: NewLaneItem, nowMs: number, world: World): Record<string, string | number> {
  const { lane, key, queue } = item;
  return { id: world.newId("item"), lane, key, queue, body: JSON.stringify(item.body), now: nowMs };
}

const NOTE = `update items set
  start = coalesce(:start, start), attempts = coalesce(:attempts, attempts),
  idle_attempts = coalesce(:idleAttempts, idle_attempts), progress = coalesce(:progress, progress)
where ${MINE}`;

function noted(patch: ItemPatch): Record<string, string | number | null> {
  return {
    start: patch.start ? JSON.stringify(patch.start) : null,
    attempts: patch.attempts ?? null,
    idleAttempts: patch.idleAttempts ?? null,
    progress: patch.progress ?? null,
  };
}

function listed(sql: (text: string) => StatementSync, query: ItemQuery): LaneItem[] {
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

/** Looking is not writing: an idle gateway leaves the disk alone. */
function claimNext(sql: (text: string) => StatementSync, world: World, request: ClaimRequest): LaneItem | undefined {
  const { lane, holder, nowMs, leaseMs } = request;
  const time = { now: nowMs, lease: leaseMs, delayMax: LIMITS.retryAfterMaxMs };
  if (sql(NEXT).get({ lane, ...time }) === undefined) return undefined;
  world.at("lane:before-write");
  const row = attempt(() => sql(CLAIM).get({ lane, holder, ...time, until: nowMs + leaseMs }));
  world.at("lane:after-write");
  return row && itemOf(row);
}
