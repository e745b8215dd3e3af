/**
 * An OpenClaw home as conversations of this home: both its stores, `sessions.json` with JSONL files and the SQLite one.
 *
 * Keys are kept one to one, rows with all they say, transcripts as their sessions' own; transcripts that no row points to
 * go into `archive/`.
 * Invariant: the source is only read; a session is known by its id, so a migration that was killed is just run again.
 */
import { existsSync } from "node:fs";
import { readdir, realpath, rm, stat } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { CodedError, isObject, LIMITS, makePrivateDirectory, readText, tryParse } from "@holdfast/base";
import { archivedFile } from "../archive-name.ts";
import { isSessionId, isSessionKey } from "../key.ts";
import { type ImportPlace, importHistory } from "../keeping/import.ts";
import { NewFile } from "../keeping/new-file.ts";
import { isFile } from "../reading/packed.ts";
import { openSource } from "../reading/source.ts";
import { type PutAwaySibling, siblingOf } from "./openclaw-files.ts";
import { adjustEntry } from "./openclaw-entries.ts";
import { type FoundSession, readDatabase, scratchFolder } from "./openclaw-sqlite.ts";
import { MigrationNotes, type MigrationReport } from "./report.ts";

export interface MigrateOpenClaw {
  /** `~/.openclaw`: the folder that has `agents`. */
  readonly from: string;
  /** Where the sessions of an agent go. Called once for each agent. */
  readonly placeFor: (agentId: string) => Promise<ImportPlace>;
  readonly onProgress?: (done: { readonly sessions: number; readonly of: number }) => void;
}

/** One session that cannot be read does not stop the others. Throws what the file system throws on `from`, `write_failed`. */
export async function migrateOpenClaw(options: MigrateOpenClaw): Promise<MigrationReport> {
  const notes = new MigrationNotes();
  const root = await realpath(options.from);
  const entries = await readdir(join(root, "agents"), { withFileTypes: true });
  const agents = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  for (const agentId of agents.sort()) {
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(agentId)) {
      notes.skipped.push({ source: join(root, "agents", agentId), why: "its name cannot be an agent's id" });
      continue;
    }
    const place = await options.placeFor(agentId);
    const agent = new AgentMigration({ root, agentId, place, notes });
    const found = await agent.find();
    for (const [index, session] of found.entries()) {
      options.onProgress?.({ sessions: index, of: found.length });
      await agent.carry(session);
    }
    options.onProgress?.({ sessions: found.length, of: found.length });
    await agent.archiveRest();
    await rm(scratchFolder(place), { recursive: true, force: true });
  }
  return notes;
}

interface AgentParts {
  readonly root: string;
  readonly agentId: string;
  readonly place: ImportPlace;
  readonly notes: MigrationNotes;
}

class AgentMigration {
  readonly #parts: AgentParts;
  readonly #folder: string;
  /** Transcripts that a row points to, by real path. */
  readonly #used = new Set<string>();

  constructor(parts: AgentParts) {
    this.#parts = parts;
    this.#folder = join(parts.root, "agents", parts.agentId, "sessions");
  }

  async find(): Promise<readonly FoundSession[]> {
    const { root, agentId, place, notes } = this.#parts;
    const database = join(root, "agents", agentId, "agent", "openclaw-agent.sqlite");
    const rows = await this.#rowsOfJson();
    if (!(await this.#isThere(database))) return rows;
    return [...rows, ...(await readDatabase({ path: database, sessionsFolder: this.#folder }, place, notes))];
  }

  async #isThere(path: string): Promise<boolean> {
    const isThere = await isFile(path);
    if (!isThere && existsSync(path)) this.#parts.notes.skipped.push({ source: path, why: "it is no file" });
    return isThere;
  }

  /** `sessions.json`: one object, key to row. */
  async #rowsOfJson(): Promise<FoundSession[]> {
    const { notes } = this.#parts;
    const path = join(this.#folder, "sessions.json");
    if (!(await this.#isThere(path))) return [];
    const rows = tryParse(await readText(path));
    if (!isObject(rows)) {
      notes.skipped.push({ source: path, why: "it is not JSON; its transcripts go into the archive" });
      return [];
    }
    const found: FoundSession[] = [];
    for (const [key, row] of Object.entries(rows)) {
      const source = `${path} ${JSON.stringify(key)}`;
      const file = isObject(row) ? await this.#transcriptOf(row) : undefined;
      if (isObject(row) && file !== undefined) found.push({ source, key, row, write: async () => file });
      else notes.skipped.push({ source, why: "the row names no transcript inside of its sessions directory" });
    }
    return found;
  }

  /** The transcript of a row: inside the sessions directory of this or another agent, links resolved, or not at all. */
  async #transcriptOf(row: Readonly<Record<string, unknown>>): Promise<string | undefined> {
    const { sessionId, sessionFile } = row;
    const named = typeof sessionFile === "string" ? [resolve(this.#folder, sessionFile)] : [];
    const usual = isSessionId(sessionId) ? [join(this.#folder, `${sessionId}.jsonl`)] : [];
    for (const path of [...named, ...usual]) {
      const real = await realpath(path).catch(() => undefined);
      if (real === undefined || !this.#isInside(real) || !(await stat(real)).isFile()) continue;
      this.#used.add(real);
      return real;
    }
    return undefined;
  }

  #isInside(real: string): boolean {
    const parts = real.slice(this.#parts.root.length).split(sep);
    return real.startsWith(this.#parts.root + sep) && parts[1] === "agents" && parts[3] === "sessions";
  }

  async carry(session: FoundSession): Promise<void> {
    const { notes } = this.#parts;
    try {
      await this.#carry(session);
    } catch (error) {
      if (!(error instanceof CodedError) || error.code === "write_failed") throw error;
      notes.skipped.push({ source: session.source, why: error.message });
    }
  }

  async #carry({ source, key, row, write, leaf }: FoundSession): Promise<void> {
    const { agentId, place, notes } = this.#parts;
    const ours = isSessionKey(key) ? key : `agent:${agentId}:${key}`;
    if (ours !== key) notes.notes.push(`${JSON.stringify(key)} is now ${ours}`);
    const file = await write();
    const { fields, left } = carriedFields(row);
    if (left.length > 0) notes.notes.push(`${ours}: left out of its row, since they are made anew: ${left.join(", ")}`);
    const importedFrom = { program: "openclaw", sessionId: row.sessionId };
    const imported = await importHistory(place, {
      file,
      key: ours,
      ...(isSessionId(row.sessionId) ? { sessionId: row.sessionId } : {}),
      row: { ...fields, importedFrom },
      origin: originOf(row),
      adjust: adjustEntry,
      ...(typeof leaf === "string" ? { leaf } : {}),
    });
    notes.carried.push({ source, ...imported });
  }

  /** Transcripts that no row points to: put away by a reset, deleted, or forgotten. */
  async archiveRest(): Promise<void> {
    const { notes } = this.#parts;
    if (!existsSync(this.#folder)) return;
    const entries = await readdir(this.#folder, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(this.#folder, entry.name);
      if (entry.name === "sessions.json" || this.#used.has(path)) continue;
      const found = siblingOf(entry.name);
      if (found.kind === "left") notes.left.push({ source: path, why: found.why });
      else if (!entry.isFile())
        notes.skipped.push({ source: path, why: "it is no file of this folder but a link or something else" });
      else await this.#archive(path, found);
    }
  }

  async #archive(path: string, { id, reason, atMs }: PutAwaySibling): Promise<void> {
    const { place, notes } = this.#parts;
    const at = atMs ?? Math.floor((await stat(path)).mtimeMs);
    const file = join(place.directory, archivedFile({ id, reason, atMs: at }));
    await makePrivateDirectory(dirname(file));
    await copyWhole(path, file, place);
    notes.archived.push({ source: path, file });
  }
}

/** Copies under a new name; a file that is there already is the copy of an earlier run. */
async function copyWhole(from: string, to: string, { world }: ImportPlace): Promise<void> {
  await using source = await openSource(from);
  await using copy = await NewFile.beside(to, world);
  for (let at = 0; at < source.size; at += LIMITS.readChunkBytes) {
    await copy.write(await source.read(at, LIMITS.readChunkBytes));
  }
  await copy.finish();
  await copy.name(to);
}

/** Large, and made anew from the workspace whenever they are needed. */
const LEFT_OUT = ["skillsSnapshot", "systemPromptReport"];

function carriedFields(row: Readonly<Record<string, unknown>>): { fields: Record<string, unknown>; left: string[] } {
  const left = LEFT_OUT.filter((name) => name in row);
  const fields = Object.fromEntries(Object.entries(row).filter(([name]) => !left.includes(name)));
  return { fields, left };
}

function originOf(row: Readonly<Record<string, unknown>>): { readonly channel?: string; readonly chatType?: string } {
  const { channel, chatType } = row;
  return {
    ...(typeof channel === "string" ? { channel } : {}),
    ...(typeof chatType === "string" ? { chatType } : {}),
  };
}
