/**
 * Builds the dashboard when there is no build, or one older than its sources; else says and does nothing.
 * Invariant: `dist` is always a whole build: it is made beside and moved into place.
 * A failed build does not keep the gateway from starting; it serves the older page, or one that says what is missing.
 */
import { existsSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const SOURCES = ["src", "public", "index.html", "vite.config.ts", "package.json"];

/** Milliseconds since 1970 of the newest change at or below `path`; a removed file shows in its directory's time. */
function newestMs(path: string): number {
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(stat.mtimeMs, ...readdirSync(path).map((name) => newestMs(join(path, name))));
}

/** Whether `<dashboard>/dist` is missing or older than its sources. */
export function needsBuild(dashboard: string): boolean {
  const page = join(dashboard, "dist", "index.html");
  if (!existsSync(page)) return true;
  return Math.max(...SOURCES.map((name) => newestMs(join(dashboard, name)))) > statSync(page).mtimeMs;
}

async function build(dashboard: string): Promise<void> {
  const { build: viteBuild } = await import("vite");
  const aside = join(dashboard, "dist.new");
  const output = { outDir: aside, emptyOutDir: true, reportCompressedSize: false };
  await viteBuild({ root: dashboard, logLevel: "error", build: output });
  rmSync(join(dashboard, "dist"), { recursive: true, force: true });
  renameSync(aside, join(dashboard, "dist"));
}

if (import.meta.main) {
  const dashboard = fileURLToPath(new URL("../packages/dashboard", import.meta.url));
  if (needsBuild(dashboard)) {
    console.error("Building the dashboard (once, a few seconds) ...");
    await build(dashboard).catch((error: unknown) => {
      console.error("The dashboard could not be built; `npm run build -w @holdfast/dashboard` shows why.", error);
    });
  }
}
