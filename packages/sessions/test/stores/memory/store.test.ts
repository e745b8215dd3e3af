/** The memory store keeps the contract. */
import { storeConformance } from "@holdfast/sessions/conformance";
import { test } from "vitest";
import { memoryStore } from "../../../src/stores/memory/store.ts";
import { movableWorld } from "../../support/worlds.ts";

for (const { name, run } of storeConformance) {
  test(name, () =>
    run(async () => {
      const world = movableWorld();
      const store = memoryStore(world);
      return { store, second: null, advance: world.advance, [Symbol.asyncDispose]: () => store.close() };
    }),
  );
}
