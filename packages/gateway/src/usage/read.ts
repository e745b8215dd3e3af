/**
 * Reads what the models cost (book.ts), and adds it up.
 * Invariant: a line that cannot be read is passed over, and an answer that was noted twice counts once.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, isObject, readText, tryParse } from "@holdfast/base";
import { amount, type UsageLine } from "./line.ts";

const MONTH = /^\d{4}-\d{2}\.jsonl$/u;

/** The lines from a day on, oldest first; days as in `2026-12-01`. */
export async function readUsage(
  home: string,
  { fromDay }: { readonly fromDay: string },
): Promise<readonly UsageLine[]> {
  const folder = join(home, "usage");
  const names = await readdir(folder).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return [];
    throw error;
  });
  const months = names.filter((name) => MONTH.test(name) && name.slice(0, 7) >= fromDay.slice(0, 7)).toSorted();
  const texts = await Promise.all(months.map((name) => readText(join(folder, name))));
  const lines = texts.flatMap((text) => text.split("\n").map(tryParse).flatMap(known));
  const seen = new Set<string>();
  return lines.filter(({ day, entry, session }) => {
    const name = `${session}#${entry}`;
    const isNew = day >= fromDay && !seen.has(name);
    seen.add(name);
    return isNew;
  });
}

function known(value: unknown): readonly UsageLine[] {
  if (!isObject(value)) return [];
  const { day, agent, session, model, entry } = value;
  if (![day, agent, session, model, entry].every((text) => typeof text === "string")) return [];
  const numbers = ["at", "input", "output", "cacheRead", "cacheWrite", "tokens", "cost"] as const;
  const counted = Object.fromEntries(numbers.map((name) => [name, amount(value[name])]));
  return [{ day, agent, session, model, entry, ...counted } as UsageLine];
}

export const GROUPS = ["day", "model", "session", "agent"] as const;
export type UsageGroup = (typeof GROUPS)[number];

export interface UsageSum {
  readonly of: string;
  readonly answers: number;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly tokens: number;
  readonly cost: number;
}

/** By day in order, else the dearest first. */
export function summed(lines: readonly UsageLine[], by: UsageGroup): readonly UsageSum[] {
  const sums = new Map<string, UsageSum>();
  for (const line of lines) {
    const of = line[by];
    const sum = sums.get(of) ?? {
      of,
      answers: 0,
      input: 0,
      output: 0,
      cacheRead: 0,
      cacheWrite: 0,
      tokens: 0,
      cost: 0,
    };
    sums.set(of, {
      of,
      answers: sum.answers + 1,
      input: sum.input + line.input,
      output: sum.output + line.output,
      cacheRead: sum.cacheRead + line.cacheRead,
      cacheWrite: sum.cacheWrite + line.cacheWrite,
      tokens: sum.tokens + line.tokens,
      cost: sum.cost + line.cost,
    });
  }
  const found = [...sums.values()];
  if (by === "day") return found.toSorted((one, other) => (one.of < other.of ? -1 : 1));
  return found.toSorted((one, other) => other.cost - one.cost || other.tokens - one.tokens);
}
