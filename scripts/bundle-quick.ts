/**
 * Joins the built `quick-list.js` of the command line and all it imports into one file, in place: `session list` has to
 * start about as fast as Node itself, and every module of its own costs a part of a millisecond.
 * Invariant: the joined file does what the single ones do; the gateway (loaded when a configuration has to be read) and Node's own stay outside.
 */
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";

const cli = fileURLToPath(new URL("../packages/cli", import.meta.url));

/** `packages/cli/dist/quick-list.js` from the sources. */
export async function bundleQuickList(): Promise<void> {
  const aside = join(cli, "dist", "joined");
  await build({
    root: cli,
    configFile: false,
    logLevel: "error",
    resolve: { conditions: ["holdfast-src"] },
    ssr: {
      noExternal: ["@holdfast/base", "@holdfast/sessions"],
      external: ["@holdfast/gateway"],
      resolve: { conditions: ["holdfast-src"] },
    },
    build: {
      ssr: "src/quick-list.ts",
      outDir: aside,
      emptyOutDir: true,
      target: "node24",
      rolldownOptions: { output: { entryFileNames: "quick-list.js", chunkFileNames: "[name].js" } },
    },
  });
  await rename(join(aside, "quick-list.js"), join(cli, "dist", "quick-list.js"));
  await rm(aside, { recursive: true, force: true });
}

if (import.meta.main) await bundleQuickList();
