/**
 * Lanes in one SQLite file: WAL with synchronous FULL, so that what `enqueue` acknowledged survives a power loss.
 * Each method is one statement or one immediate transaction. Text of items is bound, never spliced into SQL.
 * Version 2 added `joined` and the states `waiting` and `dropped`; a file of version 1 is brought over when it is opened.
 */
import { chmodSync, statSync } from "node:fs";
import { DatabaseSync, type SQLOutputValue, type StatementSync } from "node:sqlite";
import { type JsonObject, LIMITS, messageOf, type World } from "@holdfast/base";
import { GatewayError } from "../errors.ts";
import type {
  Change,
  ClaimRequest,
  ItemPatch,
  ItemQuery,
  ItemState,
  Lane,
  LaneItem,
  LaneStore,
  NewLaneItem,
} from "../lanes.ts";

const VERSION = 2;
const BUSY_TIMEOUT_MS = 5_000;

const TABLE = `
create table items (
  seq integer primary key autoincrement,
  id text not null unique,
  lane text not null,
  key text not null,
  queue text not null,
  body text not null,
  state text not null check (state in ('queued', 'claimed', 'waiting', 'done', 'failed', 'dropped')),
  accepted_ms integer not null,
  not_before_ms integer not null,
  settled_ms integer,
  claims integer not null default 0,
  attempts integer not null default 0,
  idle_attempts integer not null default 0,
  progress integer not null default 0,
  start text,
  joined text,
  result text,
  holder text,
  lease_until_ms integer not null default 0,
  unique (lane, key)
) strict;`;
const INDEXES = `
create index items_open on items (lane, queue, seq) where state in ('queued', 'claimed');
create index items_settled on items (settled_ms) where settled_ms is not null;
pragma user_version = ${VERSION};
`;
const KEPT_COLUMNS = `seq, id, lane, key, queue, body, state, accepted_ms, not_before_ms, settled_ms, claims, attempts,
  idle_attempts, progress, start, result, holder, lease_until_ms`;
const FROM_VERSION_1 = `
drop index items_open; drop index items_settled;
alter table items rename to items_1; ${TABLE}
insert into items (${KEPT_COLUMNS}) select ${KEPT_COLUMNS} from items_1;
drop table items_1; ${INDEXES}`;

const OPEN = "state in ('queued', 'claimed')";
/** The oldest open item of its queue, and not waiting for the turn into which it was taken. */
const FIRST = `not exists (
  select 1 from items as earlier
  where earlier.lane = item.lane and earlier.queue = item.queue and earlier.seq < item.seq and earlier.${OPEN}
) and not exists (
  select 1 from items as host where host.id = item.joined and host.state in ('queued', 'claimed', 'waiting')
)`;
/** Further ahead than anybody ever asks for is no time but a clock that was set back since. */
const DUE = "(not_before_ms <= :now or not_before_ms > :now + :delayMax)";
const EXPIRED = "(lease_until_ms <= :now or lease_until_ms > :now + :lease)";
/** The oldest open item of each queue, if it may be worked on now. */
const NEXT = `
select seq from items as item
where lane = :lane and ${OPEN} and ${DUE} and (state = 'queued' or ${EXPIRED}) and ${FIRST} and not exists (
  select 1 from items as busy
  where busy.lane = item.lane and busy.queue = item.queue and busy.seq > item.seq and busy.state = 'claimed'
    and busy.lease_until_ms > :now and busy.lease_until_ms <= :now + :lease
)
order by seq limit 1`;
const CLAIM = `
update items set state = 'claimed', claims = claims + 1, holder = :holder, lease_until_ms = :until
where seq = (${NEXT}) returning *`;
const MINE = "id = :id and state = 'claimed' and holder = :holder";

type Row = Record<string, SQLOutputValue>;
type Values = Record<string, string | number | null>;

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
    joined: row.joined === null ? null : text(row, "joined"),
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
    if (version === 0) db.exec(`begin immediate; ${TABLE} ${INDEXES} commit;`);
    if (version === 1) db.exec(`begin immediate; ${FROM_VERSION_1} commit;`);
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
  const run = (statement: string, values: Values): number => Number(attempt(() => sql(statement).run(values)).changes);
  const written = (statement: string, values: Values): number => {
    world.at("lane:before-write");
    const changes = run(statement, values);
    world.at("lane:after-write");
    return changes;
  };
  /** False when it is not possible; nothing is changed then. */
  const changeOne = (change: Change, by: { readonly holder: string | null; readonly nowMs: number }): boolean => {
    if (change.kind !== "enqueue") return run(...statementOf(change, by)) === 1;
    run(INSERT, newRow(change.item, by.nowMs, world));
    return true;
  };

  return {
    async enqueue(item, nowMs, also = []) {
      if (item.lane === "main") checkInPlace();
      world.at("lane:before-write");
      const made = transaction(db, () => {
        const fresh = run(INSERT, newRow(item, nowMs, world)) === 1;
        if (fresh) for (const change of also) changeOne(change, { holder: null, nowMs });
        return { fresh, item: withKey(sql, item) };
      });
      world.at("lane:after-write");
      // What is acknowledged must be where the next process looks for it; what is refused must not run.
      if (item.lane === "main")
        checkInPlace(() => made.fresh && written("delete from items where id = :id", { id: made.item.id }));
      return made;
    },
    async claim(request) {
      return claimNext(sql, world, request);
    },
    async renew(id, holder, leaseUntilMs) {
      return (
        written(`update items set lease_until_ms = :until where ${MINE}`, { id, holder, until: leaseUntilMs }) === 1
      );
    },
    async commit(holder, changes, nowMs) {
      world.at("lane:before-write");
      const done = transaction(db, (undo) => changes.every((change) => changeOne(change, { holder, nowMs })) || undo());
      world.at("lane:after-write");
      return done;
    },
    async takeOver(holder, spared = () => false) {
      const others = otherHolders(sql, holder).filter((other) => !spared(other));
      return others.reduce((total, other) => total + written(GIVE_BACK, { other }), 0);
    },
    async get(id) {
      const row = sql("select * from items where id = :id").get({ id });
      return row && itemOf(row);
    },
    list: async (query) => listed(sql, query),
    nextDue: async (lane) => earliest(sql, lane),
    async forget(endedBeforeMs) {
      return written("delete from items where settled_ms < :before", { before: endedBeforeMs });
    },
    close: async () => db.close(),
  };
}

function withKey(sql: (text: string) => StatementSync, { lane, key }: NewLaneItem): LaneItem {
  return itemOf(sql("select * from items where lane = :lane and key = :key").get({ lane, key })!);
}

function earliest(sql: (text: string) => StatementSync, lane: Lane): number | null {
  const busy = `select max(lease_until_ms) from items as busy
    where busy.lane = item.lane and busy.queue = item.queue and busy.state = 'claimed'`;
  const due = `min(max(case state when 'claimed' then 0 else not_before_ms end, coalesce((${busy}), 0))) as due`;
  const row = sql(`select ${due} from items as item where lane = :lane and ${OPEN} and ${FIRST}`).get({ lane });
  return row === undefined || row.due === null ? null : Number(row.due);
}

const GIVE_BACK = "update items set state = 'queued', holder = null where state = 'claimed' and holder = :other";

function otherHolders(sql: (text: string) => StatementSync, holder: string): readonly string[] {
  const claimed = "select distinct holder from items where state = 'claimed' and holder <> :holder";
  return sql(claimed)
    .all({ holder })
    .map((row) => text(row, "holder"));
}

const INSERT = `insert into items (id, lane, key, queue, body, state, accepted_ms, not_before_ms)
values (:id, :lane, :key, :queue, :body, 'queued', :now, :notBefore) on conflict (lane, key) do nothing`;

function newRow(item: NewLaneItem, nowMs: number, world: World): Record<string, string | number> {
  const { lane, key, queue } = item;
  const notBefore = item.notBeforeMs ?? nowMs;
  return { id: world.newId("item"), lane, key, queue, body: JSON.stringify(item.body), now: nowMs, notBefore };
}

const NOTE = `start = coalesce(:start, start), attempts = coalesce(:attempts, attempts),
  idle_attempts = coalesce(:idleAttempts, idle_attempts), progress = coalesce(:progress, progress)`;
const ENDED = "state = :state, result = :result, holder = null, settled_ms = :now";
/** An item that this holder has claimed. */
const held = (id: string): string =>
  `exists (select 1 from items as host where host.id = ${id} and host.state = 'claimed' and host.holder = :holder)`;

/** One change as a statement that touches one row where it is possible, else none. */
function statementOf(
  change: Exclude<Change, { readonly kind: "enqueue" }>,
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
    default:
      return change satisfies never;
  }
}

/** All of it or, where it throws or undoes, nothing. */
function transaction<T>(db: DatabaseSync, work: (undo: () => false) => T): T {
  attempt(() => db.exec("begin immediate"));
  const undo = (): false => {
    db.exec("rollback");
    return false;
  };
  try {
    const made = work(undo);
    if (db.isTransaction) attempt(() => db.exec("commit"));
    return made;
  } catch (error) {
    if (db.isTransaction) undo();
    throw error;
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
