/**
 * The lanes' SQLite file: made, checked and brought over from earlier versions when it is opened.
 *
 * Invariant: WAL with synchronous FULL, so that a commit survives a power loss; the file is its owner's alone (0600).
 * Version 2 added `joined` and the states `waiting` and `dropped`.
 */
import { chmodSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { messageOf } from "@holdfast/base";
import { GatewayError } from "../../errors.ts";

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
create index items_queued on items (lane, seq) where state = 'queued';
create index items_claimed on items (lane, lease_until_ms) where state = 'claimed';
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

/** Opens or makes the file. Throws `lanes_unusable`. */
export function openDatabase(path: string): DatabaseSync {
  try {
    return open(path);
  } catch (error) {
    throw new GatewayError("lanes_unusable", { file: path, why: messageOf(error) }, error);
  }
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
export function placeCheck(path: string): (undo?: () => unknown) => void {
  const files = [path, `${path}-wal`].map((file) => ({ file, inode: inodeOf(file) }));
  return (undo = () => undefined) => {
    const gone = files.find(({ file, inode }) => inodeOf(file) !== inode);
    if (gone === undefined) return;
    undo();
    throw new GatewayError("lanes_gone", { file: gone.file });
  };
}
