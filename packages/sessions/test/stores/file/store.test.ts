/** The file store keeps the contract, however it is locked. */
import { storeConformance } from "@holdfast/sessions/conformance";
import { describe, test } from "vitest";
import { realDisk } from "../../../src/stores/file/disk.ts";
import { openFileStore } from "../../../src/stores/file/store.ts";
import { testDirectory } from "../../support/directories.ts";
import { movableWorld } from "../../support/worlds.ts";

const AS_THEY_ARE = { timeoutMs: 10_000, staleMs: 60_000, maxHoldMs: 10_000, onProblem: fail };

describe.each(["kernel", "create"] as const)("locked in mode %s", (mode) => {
  const lock = mode === "create" ? { ...AS_THEY_ARE, mode } : AS_THEY_ARE;
  for (const { name, run } of storeConformance) {
    test(name, () =>
      run(async () => {
        const directory = await testDirectory();
        const world = movableWorld();
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
});

function fail(problem: unknown): never {
  throw new Error(`a problem nobody caused: ${JSON.stringify(problem)}`);
}
