/** A directory that goes away with its test. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Temp extends AsyncDisposable {
  readonly path: string;
  at(name: string): string;
}

export async function tempDirectory(): Promise<Temp> {
  const path = await mkdtemp(join(tmpdir(), "holdfast-base-"));
  return {
    path,
    at: (name) => join(path, name),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
