/**
 * An open conversation: the one object of this process through which a transcript is read and written.
 * Invariant: every method that changes something goes through one queue; reading never takes a lock.
 */
import { AppendQueue } from "./append-queue.ts";
import type { NewEntry } from "./entry.ts";
import { SessionError } from "./errors.ts";
import { takeNewEntry } from "./flaws.ts";
import { Ground } from "./ground.ts";
import { readHeader } from "./reading/header.ts";
import { entriesBackward, entriesForward, type Reel, readOn } from "./scan.ts";
import type { Outline } from "./sidecar/outline.ts";
import { sessionTree } from "./sidecar/session-tree.ts";
import type { LogRef, LogStore, Reading } from "./store.ts";
import type { AppendOptions, Appended, Session } from "./types.ts";
import { Writer, type WriterParts } from "./writer.ts";

/** What a session is made of; `onClose` is called at each close of the object. */
export interface SessionParts extends WriterParts {
  readonly key: string;
  readonly found: "new" | "resumed";
  /** The log, if it was looked at already; `openSession` closes it. */
  readonly reading?: Reading;
  readonly onClose: () => void | Promise<void>;
}

/** A session and what only its keeper may do with it. */
export interface OpenedSession {
  readonly session: Session;
  /** False once nothing more can be written through the object: open another. */
  isUsable(): boolean;
  /** The log says that it was closed: it may be read, and has to be opened again before it is written. */
  isPutAway(): boolean;
  /** Resolves when everything asked for so far is done. */
  settled(): Promise<void>;
  /** Ends the object: everything asked for afterwards is `closed`. */
  end(): void;
}

/** Reads the log as far as its context needs. Throws `gone`. */
export async function openSession(parts: SessionParts): Promise<OpenedSession> {
  const { store, log } = parts;
  const ground = await Ground.read(store, log, parts.reading);
  const writer = new Writer(parts, ground);
  const queue = new AppendQueue((batch) => writer.write(batch));
  const session = sessionOf(parts, ground, writer, queue);
  return {
    session,
    isUsable: () => writer.isUsable,
    isPutAway: () => writer.isPutAway,
    settled: () => queue.settled(),
    end: () => writer.end(),
  };
}

function sessionOf(parts: SessionParts, ground: Ground, writer: Writer, queue: AppendQueue): Session {
  const { key, found, store, log, onClose } = parts;
  const close = async (): Promise<void> => {
    await queue.settled();
    await onClose();
  };
  return {
    ...readingOf(store, log, ground),
    ...writingOf(parts, ground, queue),
    key,
    found,
    id: log.id,
    file: store.pathOf(log),
    get report() {
      return ground.loaded.report;
    },
    get header() {
      return ground.loaded.header;
    },
    tree: sessionTree(ground.places, log.id),
    leaf: () => ground.leaf,
    path: () => ground.loaded.path,
    catchUp: () => queue.run(() => writer.catchUp()),
    claimTurn: (holder, leaseMs) => store.claimTurn(log, holder, leaseMs),
    renewTurn: (right, leaseMs) => store.renewTurn(log, right, leaseMs),
    releaseTurn: (right) => store.releaseTurn(log, right),
    subscribe(listener) {
      writer.listeners.add(listener);
      return { [Symbol.dispose]: () => void writer.listeners.delete(listener) };
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

type Reads = Pick<Session, "context" | "since" | "entry" | "newestFirst" | "oldestFirst">;

/** Each looks at the log as it is when it is called. */
function readingOf(store: LogStore, log: LogRef, ground: Ground): Reads {
  const read = async (): Promise<Reading> => {
    const reading = await store.read(log);
    if (reading === undefined) throw new SessionError("gone", { path: log.file });
    return reading;
  };
  return {
    context: async (options = {}) => ground.context(options),
    entry: (id) => ground.find(id),
    since: entriesSince(ground, log.id),
    async *newestFirst() {
      await using reading = await read();
      yield* entriesBackward(reading.source);
    },
    async *oldestFirst() {
      await using reading = await read();
      yield* entriesForward(reading.source);
    },
  };
}

/** The newest question is kept as far as it was read: whoever works on a session asks it before each step. */
function entriesSince(ground: Ground, sessionId: string): Session["since"] {
  let kept: { readonly from: string | null; readonly life: number; readonly reel: Reel } | undefined;
  return (entryId) =>
    ground.places.run(async (tree, source, life) => {
      if (kept?.from !== entryId || kept.life !== life) kept = undefined;
      const begin = kept === undefined ? await beginOf(tree, entryId, sessionId) : 0;
      kept ??= { from: entryId, life, reel: { entries: [], end: begin, fence: 0 } };
      const { reel } = kept;
      const isNamed = reel.end > begin || reel.entries.length > 0 || (await readHeader(source)).version >= 2;
      const entries = isNamed ? await readOn(source, reel) : undefined;
      if (entries !== undefined) return entries;
      kept = undefined;
      return Array.fromAsync(entriesForward(source, await beginOf(tree, entryId, sessionId)));
    });
}

async function beginOf(tree: Outline, entryId: string | null, sessionId: string): Promise<number> {
  if (entryId === null) return 0;
  const node = await tree.find(entryId);
  if (node === -1) throw new SessionError("entry_missing", { entry: entryId, session: sessionId });
  return tree.endOf(node);
}

function writingOf(parts: SessionParts, ground: Ground, queue: AppendQueue): Pick<Session, "append" | "branch"> {
  const append = async (entries: NewEntry | readonly NewEntry[], options: AppendOptions = {}): Promise<Appended> => {
    const list = Array.isArray(entries) ? entries : [entries];
    return queue.add(list.map(takeNewEntry), options);
  };
  return {
    append,
    async branch(entryId, options = {}) {
      if ((await ground.find(entryId)) === undefined) {
        throw new SessionError("entry_missing", { entry: entryId, session: parts.log.id });
      }
      const { reason = "branch", ...rest } = options;
      const data = { from: ground.leaf, reason };
      const move: NewEntry = { type: "custom", customType: "holdfast:leaf", parentId: entryId, data };
      return append(move, { ...rest, sync: rest.sync ?? parts.fsync !== "never" });
    },
  };
}
