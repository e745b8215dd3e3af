/** What an enumeration did, as a Markdown table for people: one row a scenario. */
import type { Enumerated } from "./enumerate.ts";

export function tableOf(rows: readonly Enumerated[]): string {
  const head =
    "| scenario | operations | deaths | refusals | freezes | second faults | different remains | violations |";
  const lines = rows.map((row) => {
    const { scenario, operations, deaths, refusals, freezes, second, states, violations } = row;
    return `| ${[scenario, operations, deaths, refusals, freezes, second, states, violations.length].join(" | ")} |`;
  });
  return [head, "|---|---|---|---|---|---|---|---|", ...lines].join("\n");
}
