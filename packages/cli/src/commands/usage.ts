/** `holdfast usage`: what the models of this home cost, by day, model, conversation or agent. Reads the book; asks nobody. */
import type { UsageGroup } from "@holdfast/gateway/internal";
import type { CommandContext } from "../context.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { homeOf } from "../home.ts";
import { printable } from "../output.ts";
import { columns, counted } from "../table.ts";

const DAY_MS = 86_400_000;

/** `{ "from", "by", "sums": [{ "of", "answers", "input", "output", "cacheRead", "cacheWrite", "tokens", "cost" }], "total" }` */
export async function showUsage(
  context: CommandContext,
  { by, days }: { readonly by: UsageGroup; readonly days: number },
): Promise<ExitCode> {
  const { readUsage, summed } = await import("@holdfast/gateway/internal");
  // Days are those of the owner's time zone; a day more is read than may be needed, never less.
  const from = new Date(context.world.nowMs() - days * DAY_MS).toISOString().slice(0, 10);
  const lines = await readUsage(homeOf(context), { fromDay: from });
  const sums = summed(lines, by);
  const total = summed(
    lines.map((line) => ({ ...line, agent: "" })),
    "agent",
  )[0];
  context.output.result({ from, by, sums, total: total ?? null }, (paint) => {
    if (total === undefined) return `Nothing since ${from}.`;
    const rows = sums.map(({ of, answers, input, output, cacheRead, cost }) => [
      paint.bold(printable(of)),
      counted(answers, "answer"),
      `${amount(input + cacheRead)} in`,
      cacheRead === 0 ? "" : paint.dim(`${Math.round((cacheRead / (input + cacheRead)) * 100)} % cached`),
      `${amount(output)} out`,
      money(cost),
    ]);
    const all = `${counted(total.answers, "answer")} since ${from}: ${amount(total.tokens)} tokens, ${money(total.cost)}`;
    return `${columns(rows)}\n${all}`;
  });
  return EXIT.ok;
}

function amount(tokens: number): string {
  return tokens.toLocaleString("en-US");
}

/** By listed prices; a model without one costs nothing that is known. */
function money(cost: number): string {
  return cost === 0 ? "no price known" : `$${cost.toFixed(cost < 1 ? 4 : 2)}`;
}
