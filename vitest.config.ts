/**
 * One Vitest run over every package; sources are read directly, nothing has to be built first.
 * `HOLDFAST_TEST_REPORT` names a file that gets the result as JSON besides what is printed (.ci/run counts from it).
 */
import { defineConfig } from "vitest/config";

/** What decides where a conversation stands, who may write and when it ends: no line and no branch without a test. */
const COVERED = [
  "tree",
  "projection",
  "rights",
  "changes",
  "lifecycle",
  "reset-policy",
  "wall-clock",
  "carry-over",
  "key",
];

const report = process.env.HOLDFAST_TEST_REPORT;

export default defineConfig({
  resolve: { conditions: ["holdfast-src"] },
  ssr: { resolve: { conditions: ["holdfast-src"] } },
  test: {
    include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"],
    reporters: report === undefined ? ["default"] : ["default", ["json", { outputFile: report }]],
    setupFiles: ["scripts/test-setup.ts"],
    testTimeout: process.env.HOLDFAST_LARGE === "1" ? 300_000 : 30_000,
    hookTimeout: 30_000,
    // Of two cores; many tests wait for processes. Large counts do not, and some have workers of their own.
    maxWorkers: process.env.HOLDFAST_LARGE === "1" ? 2 : 3,
    coverage: {
      include: COVERED.map((name) => `packages/sessions/src/${name}.ts`),
      reporter: ["text"],
      thresholds: { 100: true },
    },
  },
});
