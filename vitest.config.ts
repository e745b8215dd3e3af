/** One Vitest run over every package; sources are read directly, nothing has to be built first. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: { conditions: ["holdfast-src"] },
  ssr: { resolve: { conditions: ["holdfast-src"] } },
  test: {
    include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    maxWorkers: 2,
  },
});
