/** `models.spend`: whether one more question may be asked. Pure. */
import type { Spent } from "@holdfast/agent";
import type { Config } from "../config/schema.ts";

type Spend = Config["models"]["spend"];
type Limit = Spend["turn"];

/** What is spent so far: for the message, by all agents today, by this agent today. */
export interface SpentSoFar {
  readonly turn: Spent;
  readonly day: Spent;
  readonly agentDay: Spent;
}

const NAMES: Readonly<Record<keyof SpentSoFar, string>> = {
  turn: "for one message",
  day: "for one day",
  agentDay: "for this agent in one day",
};

/** Why not, for people; null: it may be asked. */
export function spendRefusal(spend: Spend, spent: SpentSoFar): string | null {
  for (const name of ["turn", "agentDay", "day"] as const) {
    const reached = reachedOf(spend[name], spent[name]);
    if (reached !== null)
      return `I stopped: the limit ${NAMES[name]} is reached (${reached}; models.spend.${name} in holdfast.json). What was done is on record. Raise the limit, then say "continue".`;
  }
  return null;
}

function reachedOf({ tokens, cost }: Limit, spent: Spent): string | null {
  if (tokens !== null && spent.tokens >= tokens) return `${spent.tokens} of ${tokens} tokens`;
  if (cost !== null && spent.cost >= cost) return `$${spent.cost.toFixed(2)} of $${cost.toFixed(2)}`;
  return null;
}
