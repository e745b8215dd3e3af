/** The memory lanes against the conformance cases. */
import { realWorld } from "@holdfast/base";
import { test } from "vitest";
import { laneCases } from "../../src/conformance/lanes.ts";
import { memoryLanes } from "../../src/lane-stores/memory.ts";

for (const { group, name, run } of laneCases(async () => memoryLanes(realWorld()))) test(`${group}: ${name}`, run);
