/**
 * What every session store must do, as data: run each case with a function that makes a fresh fixture.
 *
 * ```ts
 * for (const { name, run } of storeConformance) test(name, () => run(makeMyFixture));
 * ```
 */
import { actCases } from "./acts.ts";
import { archiveCases } from "./archive.ts";
import type { StoreCase } from "./kit.ts";
import { logCases } from "./logs.ts";
import { rowCases } from "./rows.ts";
import { treeCases } from "./trees.ts";
import { turnCases } from "./turns.ts";

export type { StoreCase, StoreFixture } from "./kit.ts";
export const storeConformance: readonly StoreCase[] = [
  ...rowCases,
  ...logCases,
  ...turnCases,
  ...archiveCases,
  ...treeCases,
  ...actCases,
];
