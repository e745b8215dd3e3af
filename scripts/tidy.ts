/**
 * `npm run tidy`: the shape of the code, as numbers and arrows that fail (tables in tidy/tables.ts).
 * Prints `file:line rule message`; exit 1 when anything fails. `--warnings` lists those too.
 */
import { fileURLToPath } from "node:url";
import { check, readSources } from "./tidy/check.ts";

const root = fileURLToPath(new URL("..", import.meta.url));
process.chdir(root);
const findings = check(readSources(root));
const failures = findings.filter((each) => each.severity === "fail");
const warnings = findings.filter((each) => each.severity === "warn");
const shown = process.argv.includes("--warnings") ? [...failures, ...warnings] : failures;
for (const { file, line, rule, message, severity } of shown) {
  console.log(`${file}:${line} ${rule} ${message}${severity === "warn" ? " (warning)" : ""}`);
}
console.log(`tidy: ${failures.length} failures, ${warnings.length} warnings`);
process.exitCode = failures.length > 0 ? 1 : 0;
