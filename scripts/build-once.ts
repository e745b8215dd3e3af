/**
 * Builds the program and the dashboard when there is no build, or one older than its sources; else says and does nothing.
 * Invariant: the dashboard's `dist` is always a whole build: it is made beside and moved into place. A dashboard that cannot
 * be built does not keep the gateway from starting; a program that cannot be built does, since an old one would run instead.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Its time is that of the last build of the program. */
const STAMP = "packages/cli/dist/.built";
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

/** Whether one of the program's sources is newer than the stamp that the last build left. */
export function programIsStale(root: string): boolean {
  const stamp = join(root, STAMP);
  if (!existsSync(stamp)) return true;
  const sources = globSync("packages/{base,sessions,agent,gateway,cli}/{src,package.json}", { cwd: root });
  return Math.max(...sources.map((name) => newestMs(join(root, name)))) > statSync(stamp).mtimeMs;
}

async function buildProgram(root: string): Promise<boolean> {
  const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
  const built = spawnSync(process.execPath, [tsc, "-b"], { cwd: root, stdio: ["ignore", "inherit", "inherit"] });
  if (built.status !== 0) return false;
  const { bundleQuickList } = await import("./bundle-quick.ts");
  await bundleQuickList();
  writeFileSync(join(root, STAMP), "");
  return true;
}

if (import.meta.main) {
  const root = fileURLToPath(new URL("..", import.meta.url));
  const dashboard = join(root, "packages", "dashboard");
  const stale = programIsStale(root);
  if (stale || needsBuild(dashboard)) console.error("Building (once, a few seconds) ...");
  if (stale && !(await buildProgram(root))) process.exit(1);
  if (needsBuild(dashboard)) {
    await build(dashboard).catch((error: unknown) => {
      console.error("The dashboard could not be built; `npm run build -w @holdfast/dashboard` shows why.", error);
    });
  }
}
