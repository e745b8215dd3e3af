/** A directory of its own with a real store, for imports. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realWorld } from "@holdfast/base";
import type { ImportPlace } from "../../src/keeping/import.ts";
import { openImportPlace } from "../../src/keeping/place.ts";

export async function testPlace(): Promise<ImportPlace & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-place-"));
  const unexpected = (problem: unknown): never => {
    throw new Error(`an import caused a problem: ${JSON.stringify(problem)}`);
  };
  const place = await openImportPlace(directory, unexpected, realWorld());
  return {
    ...place,
    async [Symbol.asyncDispose]() {
      await place[Symbol.asyncDispose]();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
