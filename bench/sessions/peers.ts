/** Installs the peers from npm, once, outside the repository. Nothing of them is run on installing. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { dataDirectory } from "./data.ts";

const PI = "@earendil-works/pi-coding-agent@1.6.0";

/** The folder that holds Pi's `node_modules`. Throws when npm fails. */
export function installPi(): string {
  const directory = join(dataDirectory(), "pi-1.6.0");
  const done = join(directory, "installed");
  if (existsSync(done)) return directory;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), '{ "private": true }');
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", PI];
  const npm = spawnSync("npm", args, { cwd: directory, encoding: "utf8" });
  if (npm.status !== 0) throw new Error(`npm could not install ${PI}: ${npm.stderr}`);
  writeFileSync(done, "");
  return directory;
}
