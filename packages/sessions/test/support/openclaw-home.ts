/** Small OpenClaw homes: the JSON store of 2026.5, and the SQLite store of 2026.9 in the tables that a migration reads. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { zstdCompressSync } from "node:zlib";
import { answer, fileOf, HEADER, user } from "./make.ts";

const line = (id: string, text: string) =>
  fileOf([user(`${id}-u`, null, text), answer(`${id}-a`, `${id}-u`, "yes")], { ...HEADER, id });

export const DIRECT = "11111111-1111-4111-8111-111111111111";
export const GROUP = "22222222-2222-4222-8222-222222222222";
export const OLD = "33333333-3333-4333-8333-333333333333";

async function put(root: string, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

/** `sessions.json`, transcripts beside it, one of a topic, one put away by a reset, one deleted, records of runs. */
export async function jsonHome(root: string): Promise<void> {
  const sessions = "agents/main/sessions";
  const rows = {
    "agent:main:main": {
      sessionId: DIRECT,
      sessionFile: join(root, sessions, `${DIRECT}.jsonl`),
      updatedAt: 1782139670436,
      sessionStartedAt: 1782133293560,
      lastInteractionAt: 1782139522512,
      status: "done",
      modelOverride: "gpt-5.2",
      providerOverride: "openai",
      compactionCount: 2,
      channel: "telegram",
      chatType: "direct",
      skillsSnapshot: { prompt: "long" },
    },
    "agent:main:telegram:group:-100:topic:7": { sessionId: GROUP, sessionFile: `${GROUP}-topic-7.jsonl`, updatedAt: 5 },
    global: { sessionId: "global-1", updatedAt: 6 },
    "agent:main:gone": { sessionId: "44444444-4444-4444-8444-444444444444", updatedAt: 7 },
    "agent:main:outside": { sessionId: "x1", sessionFile: "../../../secret.jsonl", updatedAt: 8 },
  };
  await put(root, "openclaw.json", "{}");
  await put(root, "secret.jsonl", line("secret", "not yours"));
  await put(root, `${sessions}/sessions.json`, JSON.stringify(rows, null, 2));
  await put(root, `${sessions}/${DIRECT}.jsonl`, line(DIRECT, "hello"));
  await put(root, `${sessions}/${GROUP}-topic-7.jsonl`, line(GROUP, "topic"));
  await put(root, `${sessions}/global-1.jsonl`, line("global-1", "everyone"));
  await put(root, `${sessions}/${OLD}.jsonl.reset.2026-05-01T04-00-00.000Z`, line(OLD, "before the reset"));
  await put(root, `${sessions}/forgotten.jsonl`, line("forgotten", "nobody points here"));
  await put(root, `${sessions}/${DIRECT}.trajectory.jsonl`, "{}\n");
}

const TABLES = `
CREATE TABLE session_nodes (session_key TEXT NOT NULL PRIMARY KEY, current_session_id TEXT NOT NULL, entry_json TEXT NOT NULL,
  entry_valid INTEGER NOT NULL DEFAULT 0, updated_at INTEGER NOT NULL, status TEXT, label TEXT, archived_at INTEGER, last_interaction_at INTEGER) STRICT;
CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL, previous_session_id TEXT, reason TEXT,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT;
CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT, created_at INTEGER NOT NULL,
  event_zstd BLOB, event_utf8_bytes INTEGER, navigation_json TEXT, PRIMARY KEY (session_id, seq)) STRICT;
CREATE TABLE session_transcript_index_state (session_id TEXT NOT NULL PRIMARY KEY, indexed_seq INTEGER NOT NULL, leaf_event_id TEXT,
  needs_rebuild INTEGER NOT NULL DEFAULT 0, active_event_count INTEGER NOT NULL DEFAULT 0, active_message_count INTEGER NOT NULL DEFAULT 0,
  updated_at INTEGER NOT NULL) STRICT;
CREATE TABLE session_transcript_archives (session_id TEXT NOT NULL, generation TEXT NOT NULL, session_key TEXT NOT NULL, reason TEXT NOT NULL,
  encoding TEXT NOT NULL, archive_blob BLOB NOT NULL, archive_sha256 TEXT NOT NULL, archive_name TEXT NOT NULL UNIQUE, created_at INTEGER NOT NULL,
  PRIMARY KEY (session_id, generation)) STRICT;
`;

/** A conversation that was reset and branched, one event compressed, an earlier session of the key, an archive; the log not checkpointed. */
export async function sqliteHome(root: string): Promise<DatabaseSync> {
  const path = join(root, "agents/main/agent/openclaw-agent.sqlite");
  await mkdir(dirname(path), { recursive: true });
  const database = new DatabaseSync(path);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;");
  database.exec(TABLES);
  const entry = { sessionId: DIRECT, updatedAt: 9, status: "done", thinkingLevel: "high", label: "mine" };
  database
    .prepare("INSERT INTO session_nodes VALUES ('agent:main:main', ?, ?, 1, 9, 'done', 'mine', NULL, 8)")
    .run(DIRECT, JSON.stringify(entry));
  const events: readonly object[] = [
    { ...HEADER, id: DIRECT },
    user("u1", null, "before the reset"),
    answer("a1", "u1", "old"),
    { type: "reset", id: "r1", parentId: "a1", timestamp: HEADER.timestamp },
    user("u2", "r1", "after"),
    answer("a2", "u2", "first answer"),
    answer("a3", "u2", "second answer"),
  ];
  const insert = database.prepare("INSERT INTO transcript_events VALUES (?, ?, ?, 1, ?, ?, ?)");
  for (const [seq, event] of events.entries()) {
    const text = JSON.stringify(event);
    const packed = seq === 2 ? zstdCompressSync(text) : null;
    insert.run(DIRECT, seq, packed === null ? text : null, packed, packed === null ? null : text.length, null);
  }
  insert.run(OLD, 0, JSON.stringify(user("o1", null, "an earlier session")), null, null, null);
  database.prepare("INSERT INTO session_transcript_index_state VALUES (?, 6, 'a2', 0, 3, 3, 9)").run(DIRECT);
  const blob = zstdCompressSync(line("put-away", "archived"));
  database
    .prepare(
      "INSERT INTO session_transcript_archives VALUES ('put-away', 'g', 'agent:main:main', 'deleted', 'zstd', ?, ?, 'n', 1000)",
    )
    .run(blob, "0".repeat(64));
  return database;
}
