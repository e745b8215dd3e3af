/**
 * An open conversation: the one object of this process through which a transcript is read and written.
 * Invariant: every method that changes something goes through one queue; reading never takes a lock.
 */
import { AppendQueue } from "./append-queue.ts";
import type { Entry, NewEntry } from "./entry.ts";
import { SessionError } from "./errors.ts";
import { takeNewEntry } from "./flaws.ts";
import { Ground } from "./ground.ts";
import { entriesBackward, entriesForward } from "./scan.ts";
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
    since: (entryId) =>
      ground.places.run(async (tree, source) => {
        const node = entryId === null ? -1 : await tree.find(entryId);
        if (node === -1 && entryId !== null) {
          throw new SessionError("entry_missing", { entry: entryId, session: log.id });
        }
        const entries: Entry[] = [];
        const from = node === -1 ? 0 : tree.endOf(node);
        for await (const entry of entriesForward(source, from)) entries.push(entry);
        return entries;
      }),
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
