/**
 * `npm run campaign [-- <story>]`: every point of every story, a table on stdout and, when all were run, in
 * docs/guide/durability.md. Exit 1 when a promise broke; then each broken point is named, and what broke.
 */
import { writeFileSync } from "node:fs";
import { enumerateTurns, type TurnsReport } from "./enumerate-turns.ts";
import { STORIES } from "./stories.ts";

const wanted = process.argv.slice(2).join(" ");
const chosen = STORIES.filter(({ name }) => wanted === "" || name === wanted);
if (chosen.length === 0) throw new TypeError(`no story ${wanted}: ${STORIES.map(({ name }) => name).join(", ")}`);
const reports: TurnsReport[] = [];
for (const story of chosen) {
  console.error(`${story.name} ...`);
  reports.push(await enumerateTurns(story));
}
const rows = reports.map(
  ({ story, operations, points, states, violations }) =>
    `| ${[story, operations, points, states, violations.length].join(" | ")} |`,
);
const total = reports.reduce((sum, { points }) => sum + points, 0);
const table = [
  "| story | operations | points | different remains | broken promises |",
  "|---|---:|---:|---:|---:|",
  ...rows,
].join("\n");
console.log(`${table}\n\n${total} points`);
for (const { story, violations } of reports)
  for (const { point, what } of violations) console.log(`${story}: ${point}\n  ${what.join("\n  ")}`);
if (wanted === "")
  writeFileSync(
    new URL("../../../../docs/guide/durability.md", import.meta.url),
    `# What was tried

\`npm run campaign\` wrote this page. It plays each story on a simulated machine: the product's own lanes, turns, tools' rules and
deliveries over a simulated disk, clock and world. At every operation it tries every death (killed before and after; the power lost
before and after, with what was not synced lost, kept or zeroed) and every refusal (EIO, ENOSPC, short writes, failed syncs). What is
left is given to a next life, which goes on until nothing is due. Then facts from outside are compared: what happened in the
simulated world, what clients were told, what the platform was sent, the bytes of the transcript.

Promises: a message whose sender was told "received" is answered or visibly failed; no effect happens twice; every call has exactly
one result; a result that says "happened" or "absent" is true; no part of a reply is sent twice. A point is an operation and a fault.
The lane store is the one in memory with commits that are whole or not there; the SQLite store has tests of its own.

${table}

${total} points. \`packages/sim/test/turns\` breaks nine rules on purpose; each is found.
`,
  );
process.exitCode = reports.some(({ violations }) => violations.length > 0) ? 1 : 0;
