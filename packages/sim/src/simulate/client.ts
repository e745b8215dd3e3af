/**
 * A client of the engine: asks, writes down what it is told, and tries once more with the same ids when it is refused.
 * Invariant: an answer that reaches a dead process is not written down.
 */
import { CodedError } from "@holdfast/base";
import type { Appended, Fsync, Session, Sessions } from "@holdfast/sessions";
import { type Disk, openSessionsOn } from "@holdfast/sessions/internal";
import type { SimProcess } from "../disk/process.ts";
import type { DiskFacts } from "../history/disk-facts.ts";
import type { Asked, Done, History } from "../history/history.ts";

export const DIRECTORY = "/home/agents/main/sessions";
const TRIES = 2;
const LOCK_TIMEOUT_MS = 500;

/** Locks that are files, and are taken over when they were not renewed for `staleMs`. */
export interface LockFiles {
  readonly staleMs: number;
}

export interface ClientOptions {
  readonly process: SimProcess;
  readonly history: History;
  /** Left out: `always`. */
  readonly fsync?: Fsync;
  /** Left out: the kernel's locks. */
  readonly lockFiles?: LockFiles;
  /** Puts something between the engine and its disk. */
  readonly disk?: (disk: Disk) => Disk;
  /** What is on the disk at this moment, as an outsider sees it. */
  readonly facts: () => DiskFacts;
  /** Errors that no fault of the disk explains. */
  readonly onSurprise: (what: string) => void;
}

export type Question = Omit<Asked, "process">;

export class Client {
  readonly process: SimProcess;
  readonly #options: ClientOptions;
  readonly outside: Pick<ClientOptions, "facts" | "onSurprise">;
  readonly #sessions = new Map<string, Session>();
  #store: Promise<Sessions> | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.outside = options;
    this.process = options.process;
  }

  async open(key: string): Promise<void> {
    await this.tell({ what: "open", key, ids: [] }, async () => {
      return { sessionId: (await this.session(key)).id, entries: [], place: "live" };
    });
  }

  /** Entries of one call: all or nothing once it is acknowledged. */
  append(key: string, ...ids: readonly string[]): Promise<void> {
    return this.appendLong(key, 0, ...ids);
  }

  /** The same with texts of at least so many characters. */
  async appendLong(key: string, length: number, ...ids: readonly string[]): Promise<void> {
    const entries = ids.map((id) => ({
      type: "message" as const,
      id,
      message: { role: "user" as const, content: `text of ${id} 内容`.padEnd(length, "."), timestamp: 1 },
    }));
    await this.tell({ what: "append", key, ids }, async () => {
      const session = await this.session(key);
      const done = await session.append(entries);
      checkDurable(done, ids, this.#options);
      return appended(session, done);
    });
  }

  /** Calls that wait for one commit together. */
  async together(key: string, ...ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => this.append(key, id)));
  }

  async branch(key: string, to: string): Promise<void> {
    await this.tell({ what: "branch", key, ids: [to] }, async () => {
      const session = await this.session(key);
      return appended(session, await session.branch(to));
    });
  }

  async update(key: string, value: string): Promise<void> {
    await this.tell({ what: "update", key, ids: [], value }, async () => {
      const store = await this.store();
      return { sessionId: (await store.update(key, { note: value })).sessionId, entries: [] };
    });
  }

  /** Ends the store, which folds its index. */
  async close(): Promise<void> {
    const store = this.#store;
    this.#store = undefined;
    this.#sessions.clear();
    await (await store)?.close();
  }

  /** The disk that everything of this client works on. */
  get disk(): Disk {
    const { disk = (one: Disk) => one, process } = this.#options;
    return disk(process.disk);
  }

  store(): Promise<Sessions> {
    const { process, lockFiles, fsync = "always" } = this.#options;
    const files = lockFiles && { mode: "create" as const, staleMs: lockFiles.staleMs };
    const writeLock = { timeoutMs: LOCK_TIMEOUT_MS + 4 * (files?.staleMs ?? 0), ...files };
    const options = { directory: DIRECTORY, cwd: "/work", writeLock, fsync, onProblem: () => {} };
    this.#store ??= openSessionsOn(this.disk, options, process.world).catch((error: unknown) => {
      this.#store = undefined;
      throw error;
    });
    return this.#store;
  }

  async session(key: string): Promise<Session> {
    const there = this.#sessions.get(key);
    if (there !== undefined) return there;
    const session = await (await this.store()).open(key);
    this.#sessions.set(key, session);
    return session;
  }

  /** A string: it was left as it was, and why. */
  async tell(asked: Question, work: () => Promise<Done | string>): Promise<void> {
    await this.tellAll([asked], async () => [await work()]);
  }

  /** Several that are done at once; an answer for each. */
  async tellAll(questions: readonly Question[], work: () => Promise<readonly (Done | string)[]>): Promise<void> {
    const { history } = this.#options;
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const told = questions.map((asked) => history.ask({ ...asked, process: this.process.name }));
      try {
        const answers = await work();
        if (this.process.isDead) return;
        for (const [index, answer] of answers.entries()) {
          told[index]?.(typeof answer === "string" ? { refused: answer } : { done: answer });
        }
        return;
      } catch (error) {
        if (this.process.isDead) return;
        const refused = this.#codeOf(error);
        for (const tell of told) tell({ refused });
        // Whoever was refused opens again, as the errors say; what waits beside it keeps the object it has.
        for (const { key } of questions) this.forget(key);
      }
    }
  }

  /** The next who needs this conversation opens it again. */
  forget(key: string): void {
    this.#sessions.delete(key);
  }

  #codeOf(error: unknown): string {
    if (error instanceof CodedError) return error.code;
    // The engine promises its own errors, whatever the system said.
    this.outside.onSurprise(`${this.process.name} met ${error instanceof Error ? error.stack : String(error)}`);
    return "surprise";
  }
}

/** Nobody is told that something is durable which was never synced; and these are people's words, which all other policies sync. */
function checkDurable({ durable }: Appended, ids: readonly string[], { fsync, onSurprise }: ClientOptions): void {
  if (durable !== (fsync !== "never")) onSurprise(`${ids.join()}: told to be ${durable ? "" : "not "}durable`);
}

function appended(session: Session, { entries }: Appended): Done {
  const told = entries.map(({ id, parentId }) => ({ id, parentId }));
  return { sessionId: session.id, entries: told, place: "live" };
}
