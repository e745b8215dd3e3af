/**
 * A client of the engine: asks, writes down what it is told, and tries once more with the same ids when it is refused.
 * Invariant: an answer that reaches a dead process is not written down.
 */
import { CodedError } from "@holdfast/base";
import type { Appended, Session, Sessions } from "@holdfast/sessions";
import { type Disk, openSessionsOn } from "@holdfast/sessions/internal";
import type { SimProcess } from "../disk/process.ts";
import type { Done, History } from "../history/history.ts";

export const DIRECTORY = "/home/agents/main/sessions";
const TRIES = 2;
const LOCK_TIMEOUT_MS = 500;

export interface ClientOptions {
  readonly process: SimProcess;
  readonly history: History;
  /** Puts something between the engine and its disk. */
  readonly disk?: (disk: Disk) => Disk;
  /** Errors that no fault of the disk explains. */
  readonly onSurprise: (what: string) => void;
}

export class Client {
  readonly process: SimProcess;
  readonly #options: ClientOptions;
  readonly #sessions = new Map<string, Session>();
  #store: Promise<Sessions> | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.process = options.process;
  }

  async open(key: string): Promise<void> {
    await this.#tell({ what: "open", key, ids: [] }, async () => this.#done((await this.#session(key)).id, []));
  }

  /** Entries of one call: all or nothing once it is acknowledged. */
  async append(key: string, ...ids: readonly string[]): Promise<void> {
    const entries = ids.map((id) => ({
      type: "message" as const,
      id,
      message: { role: "user" as const, content: `text of ${id} 内容`, timestamp: 1 },
    }));
    await this.#tell({ what: "append", key, ids }, async () => {
      const session = await this.#session(key);
      return this.#appended(session, await session.append(entries));
    });
  }

  /** Calls that wait for one commit together. */
  async together(key: string, ...ids: readonly string[]): Promise<void> {
    await Promise.all(ids.map((id) => this.append(key, id)));
  }

  async branch(key: string, to: string): Promise<void> {
    await this.#tell({ what: "branch", key, ids: [to] }, async () => {
      const session = await this.#session(key);
      return this.#appended(session, await session.branch(to));
    });
  }

  async update(key: string, value: string): Promise<void> {
    await this.#tell({ what: "update", key, ids: [], value }, async () => {
      const store = await this.#opened();
      return this.#done((await store.update(key, { note: value })).sessionId, []);
    });
  }

  /** Ends the store, which folds its index. */
  async close(): Promise<void> {
    const store = this.#store;
    this.#store = undefined;
    this.#sessions.clear();
    await (await store)?.close();
  }

  #opened(): Promise<Sessions> {
    const { disk = (one: Disk) => one, process } = this.#options;
    const writeLock = { timeoutMs: LOCK_TIMEOUT_MS };
    const options = { directory: DIRECTORY, cwd: "/work", writeLock, onProblem: () => {} };
    this.#store ??= openSessionsOn(disk(process.disk), options, process.world).catch((error: unknown) => {
      this.#store = undefined;
      throw error;
    });
    return this.#store;
  }

  async #session(key: string): Promise<Session> {
    const there = this.#sessions.get(key);
    if (there !== undefined) return there;
    const session = await (await this.#opened()).open(key);
    this.#sessions.set(key, session);
    return session;
  }

  #done(sessionId: string, entries: Done["entries"]): Done {
    return { sessionId, entries };
  }

  #appended(session: Session, { entries }: Appended): Done {
    return this.#done(
      session.id,
      entries.map(({ id, parentId }) => ({ id, parentId })),
    );
  }

  async #tell(asked: Omit<Parameters<History["ask"]>[0], "process">, work: () => Promise<Done>): Promise<void> {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const told = this.#options.history.ask({ ...asked, process: this.process.name });
      try {
        const done = await work();
        if (!this.process.isDead) told({ done });
        return;
      } catch (error) {
        if (this.process.isDead) return;
        told({ refused: this.#codeOf(error) });
        // Whoever was refused opens again, as the errors say; what waits beside it keeps the object it has.
        this.#sessions.delete(asked.key);
      }
    }
  }

  #codeOf(error: unknown): string {
    if (error instanceof CodedError) return error.code;
    // The engine promises its own errors, whatever the system said.
    this.#options.onSurprise(`${this.process.name} met ${error instanceof Error ? error.stack : String(error)}`);
    return "surprise";
  }
}
