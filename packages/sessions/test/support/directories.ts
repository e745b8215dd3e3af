/** A directory of its own for each test, gone afterwards. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TestDirectory extends AsyncDisposable {
  readonly path: string;
}

export async function testDirectory(): Promise<TestDirectory> {
  const path = await mkdtemp(join(tmpdir(), "holdfast-sessions-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
