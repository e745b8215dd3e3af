/**
 * The first file that runs, and the only one that touches `process` exits: it answers `--version` by itself and loads the rest lazily.
 * Invariant: nothing heavy is imported before the command is known; start-up time is measured (bench/).
 */
import { mkdirSync } from "node:fs";
import { createRequire, enableCompileCache } from "node:module";
import { homedir } from "node:os";
import { join } from "node:path";

/**
 * Compiled code is kept between starts, in a folder that only this user can write: whoever could write there could run code
 * as this user. A folder that cannot be made means a slower start, nothing else.
 */
function keepCompiledCode(): void {
  try {
    const directory = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "holdfast", "compiled");
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    enableCompileCache(directory);
  } catch {
    // No home directory, or one that cannot be written.
  }
}

function version(): string {
  const own: { version: string } = createRequire(import.meta.url)("../package.json");
  return own.version;
}

async function runQuickly(): Promise<number | undefined> {
  if (!argv.includes("list")) return undefined;
  const { runQuickList } = await import("./quick-list.ts");
  return runQuickList(argv, version);
}

async function runAny(): Promise<number> {
  const { run } = await import("./run.ts");
  return run(argv, version);
}

const argv = process.argv.slice(2);
const rest = argv.filter((word) => word !== "--json");
if (rest.length === 1 && (rest[0] === "--version" || rest[0] === "-V")) {
  const json = JSON.stringify({ version: version(), node: process.versions.node });
  process.stdout.write(`${rest.length < argv.length ? json : version()}\n`);
} else {
  keepCompiledCode();
  process.exitCode = (await runQuickly()) ?? (await runAny());
}
