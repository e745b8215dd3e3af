/**
 * `npm run simulate`: all points of all scenarios, with a second fault in each recovery, and a table of them on stdout.
 * `npm run simulate -- <scenario>`: of one. `npm run simulate -- <seed> [<count>]`: random stories from that seed on.
 * Exit 1 when a promise broke; then each broken point is named, and what broke.
 */
import { ALL_SCENARIOS, scenarioNamed } from "./all-scenarios.ts";
import { enumerateAll } from "./parts.ts";
import { randomRun } from "./random.ts";
import { tableOf } from "./table.ts";

const [first = "", second = "100"] = process.argv.slice(2);
const broken = /^\d+$/.test(first)
  ? await stories(Number(first), Number(second))
  : await points(process.argv.slice(2).join(" "));
process.exitCode = broken === 0 ? 0 : 1;

async function points(name: string): Promise<number> {
  const chosen = name === "" ? ALL_SCENARIOS : [scenarioNamed(name)];
  const rows = await enumerateAll(
    chosen.map((scenario) => scenario.name),
    { seed: 1, secondStride: 1 },
    {
      onDone: ({ scenario, second, violations }) =>
        console.error(`${scenario}: ${second}, ${violations.length} broken`),
    },
  );
  console.log(tableOf(rows));
  const violations = rows.flatMap((row) => row.violations);
  for (const { scenario, point, what } of violations) console.log(`${scenario}: ${point}\n  ${what.join("\n  ")}`);
  return violations.length;
}

async function stories(from: number, count: number): Promise<number> {
  let broken = 0;
  let acts = 0;
  for (let seed = from; seed < from + count; seed++) {
    const run = await randomRun(seed);
    acts += run.acts;
    if (run.violations.length === 0) continue;
    broken += 1;
    console.log(`seed ${seed}: ${run.faults.join(" ")}\n  ${run.violations.join("\n  ")}`);
  }
  console.log(`${count} stories from seed ${from}, ${acts} acts, ${broken} broken`);
  return broken;
}
