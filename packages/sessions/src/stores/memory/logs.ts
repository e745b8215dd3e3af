/**
 * Logs in memory: bytes by name, the rights of each, and the archive, which is only another name.
 * Invariant: the same rules as files under their write locks; an operation runs to its end before another begins.
 */
import type { World } from "@holdfast/base";
import { parseArchived } from "../../archive-name.ts";
import { type Entry, encodeEntry, encodeHeader, type Header } from "../../entry.ts";
import { SessionError } from "../../errors.ts";
import { checkSessionId } from "../../key.ts";
import { memorySource } from "../../reading/source.ts";
import { claim, isStale, NO_RIGHTS, type Rights, release, renew } from "../../rights.ts";
import type {
  CommitRequest,
  Committed,
  FirstEntries,
  LogRef,
  LogStore,
  Position,
  Reading,
  StoredLog,
} from "../../store.ts";
import type { Claim, Right } from "../../types.ts";

/** Pieces are only ever added, so a position is a length. */
interface Log {
  readonly id: string;
  bytes: Buffer;
  rights: Rights;
  changedMs: number;
}

function positionAt(size: number): Position {
  return String(size) as Position;
}

export class MemoryLogs implements LogStore {
  readonly #world: World;
  /** By `LogRef.file`, which is only a name here. */
  readonly #logs = new Map<string, Log>();

  constructor(world: World) {
    this.#world = world;
  }

  async create(log: LogRef, header: Header, entries: FirstEntries): Promise<"created" | "exists"> {
    checkSessionId(log.id);
    if (this.#logs.has(log.file)) return "exists";
    const lines = [encodeHeader(header)];
    for await (const entry of entries) lines.push(encodeEntry({ ...entry, g: 1 } as Entry));
    if (this.#logs.has(log.file)) return "exists";
    const bytes = Buffer.from(`${lines.join("\n")}\n`);
    this.#logs.set(log.file, { id: log.id, bytes, rights: { ...NO_RIGHTS, g: 1 }, changedMs: this.#world.nowMs() });
    return "created";
  }

  async logs(): Promise<readonly StoredLog[]> {
    return Array.from(this.#logs, ([file, { id, bytes, rights, changedMs }]) => ({
      log: { id, file },
      bytes: bytes.length,
      changedMs,
      archived: parseArchived(file) ?? null,
      packed: false,
      leased: (rights.lease?.untilMs ?? 0) > this.#world.nowMs(),
    }));
  }

  async archive(log: LogRef, as: LogRef, expect: Position): Promise<"archived" | "behind" | "missing"> {
    const found = this.#logs.get(log.file);
    if (found === undefined) return this.#logs.has(as.file) ? "archived" : "missing";
    if (positionAt(found.bytes.length) !== expect) return "behind";
    this.#move(log.file, as.file, found);
    return "archived";
  }

  async restore(archived: LogRef, log: LogRef): Promise<"restored" | "exists" | "missing"> {
    const found = this.#logs.get(archived.file);
    if (found === undefined) return this.#logs.has(log.file) ? "restored" : "missing";
    if (this.#logs.has(log.file)) return "exists";
    this.#move(archived.file, log.file, found);
    return "restored";
  }

  async pack(): Promise<boolean> {
    return false;
  }

  async discard(archived: LogRef): Promise<boolean> {
    return this.#logs.delete(archived.file);
  }

  #move(from: string, to: string, log: Log): void {
    this.#logs.delete(from);
    this.#logs.set(to, log);
  }

  async claimTurn(log: LogRef, holder: string, leaseMs: number): Promise<Claim> {
    const found = this.#log(log);
    const outcome = claim(found.rights, { session: log.id, holder, leaseMs, nowMs: this.#world.nowMs() });
    found.rights = outcome.rights;
    return outcome.claim;
  }

  async renewTurn(log: LogRef, right: Right, leaseMs: number): Promise<boolean> {
    const found = this.#log(log);
    const rights = renew(found.rights, right, this.#world.nowMs() + leaseMs);
    found.rights = rights ?? found.rights;
    return rights !== undefined;
  }

  async releaseTurn(log: LogRef, right: Right): Promise<void> {
    const found = this.#logs.get(log.file);
    // Put away or cleared under this right: there is nothing to give back.
    if (found === undefined) return;
    found.rights = release(found.rights, right);
  }

  async commit(request: CommitRequest): Promise<Committed> {
    const found = this.#logs.get(request.log.file);
    if (found === undefined) return { kind: "behind", reading: undefined };
    if (positionAt(found.bytes.length) !== request.expect) {
      return { kind: "behind", reading: await this.read(request.log, request.expect) };
    }
    const t = request.right?.t;
    if (isStale(found.rights, t)) return { kind: "stale_turn", t: found.rights.t };
    found.rights = { ...found.rights, t: Math.max(found.rights.t, t ?? 0) };
    const stamps = { g: found.rights.g, ...(t === undefined ? {} : { t }) };
    const lines = request.entries.map((entry) => encodeEntry({ ...entry, ...stamps } as Entry));
    found.bytes = Buffer.concat([found.bytes, Buffer.from(lines.map((line) => `${line}\n`).join(""))]);
    found.changedMs = this.#world.nowMs();
    const entries = lines.map((line): Entry => JSON.parse(line));
    const end = found.bytes.length;
    return { kind: "committed", position: positionAt(end), end, entries };
  }

  async read(log: LogRef, since?: Position): Promise<Reading | undefined> {
    const found = this.#logs.get(log.file);
    if (found === undefined) return undefined;
    const position = positionAt(found.bytes.length);
    const changed = since === undefined || since === position ? "none" : "grown";
    return { position, source: memorySource(found.bytes), since: changed, async [Symbol.asyncDispose]() {} };
  }

  pathOf(): null {
    return null;
  }

  #log(log: LogRef): Log {
    const found = this.#logs.get(log.file);
    if (found === undefined) throw new SessionError("session_missing", { key: log.id });
    return found;
  }
}
