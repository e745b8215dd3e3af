/** `npm run protocol [-- small]`: explores the lock and turn protocol, and shows that mistakes in it are found; exit 1 when not so. */
import { type Exploration, traceText } from "./explore.ts";
import { LARGE, MISTAKEN, type Run, SMALL } from "./runs.ts";

const STATES_MAX = 5_000_000;

function report(run: Run, found: Exploration): void {
  const { states, steps, depth, complete, counterexample } = found;
  const verdict = counterexample !== null ? "BROKEN" : complete ? "holds" : "NOT EXPLORED TO THE END";
  console.log(`${run.name}\n  ${verdict}; ${states} states, ${steps} steps, depth ${depth}`);
  if (counterexample !== null) console.log(traceText(counterexample));
}

function holds(run: Run): boolean {
  const found = run.explore(STATES_MAX);
  report(run, found);
  return found.complete && found.counterexample === null;
}

function isFound(run: Run): boolean {
  const found = run.explore(STATES_MAX);
  report(run, found);
  return found.counterexample !== null;
}

console.log("The protocol\n");
const right = (process.argv[2] === "small" ? SMALL : LARGE).map(holds);
console.log("\nMistakes that must be found\n");
const wrong = MISTAKEN.map(isFound);
const missed = [...right, ...wrong].filter((good) => !good).length;
console.log(`\n${right.length} runs of the protocol, ${wrong.length} mistakes, ${missed} not as they should be`);
process.exitCode = missed === 0 ? 0 : 1;
