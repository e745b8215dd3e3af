/** The built page in a real browser. Where there is no Chromium the tests say so and are skipped, never under CI. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type Browser, chromium } from "playwright-core";
import { build } from "vite";

const CHROMIUM = "/usr/bin/chromium";
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** True where the browser tests can run. Throws under CI when they cannot: there they must. */
export function hasBrowser(): boolean {
  if (existsSync(CHROMIUM)) return true;
  const advice = `${CHROMIUM} is missing (apt-get install chromium): the dashboard's browser tests did not run`;
  if (process.env.CI === "true") throw new Error(advice);
  console.warn(advice);
  return false;
}

export function openBrowser(): Promise<Browser> {
  const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"];
  return chromium.launch({ executablePath: CHROMIUM, args });
}

/** Builds the present sources into `directory`: what is tested is never an old build. */
export async function buildPage(directory: string): Promise<void> {
  const output = { outDir: directory, emptyOutDir: true, reportCompressedSize: false };
  await build({ root: ROOT, configFile: `${ROOT}vite.config.ts`, logLevel: "error", build: output });
}
