/** The file store keeps the contract. */
import { storeConformance } from "@holdfast/sessions/conformance";
import { test } from "vitest";
import { realDisk } from "../../../src/stores/file/disk.ts";
import { openFileStore } from "../../../src/stores/file/store.ts";
import { testDirectory } from "../../support/directories.ts";
import { movableWorld } from "../../support/worlds.ts";

for (const { name, run } of storeConformance) {
  test(name, () =>
    run(async () => {
      const directory = await testDirectory();
      const world = movableWorld();
      const lock = { timeoutMs: 10_000, maxHoldMs: 10_000 };
      const open = () =>
        openFileStore({ directory: directory.path, lock, sync: true, onProblem: fail }, { disk: realDisk, world });
      const store = await open();
      const dispose = async () => {
        await store.close();
        await directory[Symbol.asyncDispose]();
      };
      return { store, second: open, advance: world.advance, [Symbol.asyncDispose]: dispose };
    }),
  );
}

function fail(problem: unknown): never {
  throw new Error(`a problem nobody caused: ${JSON.stringify(problem)}`);
}
