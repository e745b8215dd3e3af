/**
 * How a simulated process asks for something: at once, or in the queue of its machine.
 */
import type { OpKind } from "./faults.ts";
import type { Machine, Request } from "./machine.ts";
import type { SimProcess } from "./process.ts";

type Doing = Pick<Request, "kind" | "perform" | "drop"> & { readonly path: string; readonly bytes?: number };

export class Calls {
  readonly #machine: Machine;
  readonly #process: SimProcess;

  constructor(machine: Machine, process: SimProcess) {
    this.#machine = machine;
    this.#process = process;
  }

  ask<T>(kind: OpKind, path: string, perform: () => T): Promise<T> {
    return this.request({ kind, path, perform }) as Promise<T>;
  }

  request(doing: Doing): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#machine.enqueue({ ...this.#complete(doing), resolve, reject });
    });
  }

  /** For what is done within one call. */
  now<T>(doing: Doing & { perform(): T }): T {
    return this.#machine.doNow({ ...this.#complete(doing), resolve: () => {}, reject: () => {} }) as T;
  }

  #complete(doing: Doing) {
    const { path, bytes = 0 } = doing;
    return { ...doing, process: this.#process, bytes, name: path.slice(path.lastIndexOf("/") + 1) };
  }
}
