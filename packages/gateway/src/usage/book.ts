/**
 * What the models cost: a line for each answer in `usage/<month>.jsonl` of the home, and today's sums for the limits.
 *
 * Invariants: the file is plain text that anybody can add up; a line holds numbers and names, never what was said. What a kill takes
 * from it is at most the line of one answer, which is still in its transcript.
 */
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import type { Observe, Spent } from "@holdfast/agent";
import { makePrivateDirectory, messageOf, type World } from "@holdfast/base";
import type { Entry } from "@holdfast/sessions";
import { timezoneOf } from "../bootstrap.ts";
import type { Config } from "../config/schema.ts";
import type { Log } from "../log.ts";
import { spendRefusal } from "./limits.ts";
import { dayAt, lineOf, type UsageLine } from "./line.ts";
import { readUsage } from "./read.ts";

export interface UsageBook {
  /** The same observer, with every answer noted. */
  watching(observe: Observe): Observe;
  /** Why an agent may not ask now, for people; null: it may. `turn`: what its message has cost so far. */
  maySpend(agent: string, turn: Spent): string | null;
  /** Resolves when all that was noted is in the file, or was given up. */
  written(): Promise<void>;
}

interface BookOptions {
  readonly home: string;
  readonly config: Config;
  readonly world: World;
  readonly log: Log;
}

const NOTHING: Spent = { tokens: 0, cost: 0 };

export async function openUsage({ home, config, world, log }: BookOptions): Promise<UsageBook> {
  const folder = join(home, "usage");
  const { spend } = config.models;
  // What days are is only looked up where it matters: the tables for that take megabytes.
  const isBounded = [spend.day, spend.agentDay].some(({ tokens, cost }) => tokens !== null || cost !== null);
  const timezone = (): string => timezoneOf(config.agents.list[0] ?? { timezone: null }, config);
  const day = (): string => (isBounded ? dayAt(timezone(), world.nowMs()) : "");
  const lines = isBounded ? await readUsage(home, { fromDay: day() }) : [];
  const state = { day: day(), spent: new Map<string, Spent>(), writing: Promise.resolve() };
  const count = ({ agent, tokens, cost }: UsageLine): void => {
    const sum = state.spent.get(agent) ?? NOTHING;
    state.spent.set(agent, { tokens: sum.tokens + tokens, cost: sum.cost + cost });
  };
  for (const line of lines) count(line);
  const write = async (line: UsageLine): Promise<void> => {
    try {
      await makePrivateDirectory(folder);
      await appendFile(join(folder, `${line.day.slice(0, 7)}.jsonl`), `${JSON.stringify(line)}\n`, { mode: 0o600 });
    } catch (error) {
      log.warn("what an answer cost could not be written down", { entry: line.entry, why: messageOf(error) });
    }
  };
  const turnDay = (): void => {
    const now = day();
    if (now === state.day) return;
    state.day = now;
    state.spent.clear();
  };
  const note = (sessionKey: string, entry: Entry): void => {
    const agent = sessionKey.split(":")[1] ?? "";
    const line = lineOf(entry, { agent, sessionKey, timezone, nowMs: world.nowMs() });
    if (line === null) return;
    turnDay();
    if (isBounded) count(line);
    state.writing = state.writing.then(() => write(line));
  };
  const today = (agent?: string): Spent => {
    turnDay();
    if (agent !== undefined) return state.spent.get(agent) ?? NOTHING;
    return [...state.spent.values()].reduce(
      (sum, { tokens, cost }) => ({ tokens: sum.tokens + tokens, cost: sum.cost + cost }),
      NOTHING,
    );
  };
  return {
    watching: (observe) => (sessionKey, observation) => {
      if (observation.kind === "entries") for (const entry of observation.entries) note(sessionKey, entry);
      observe(sessionKey, observation);
    },
    maySpend: (agent, turn) => spendRefusal(spend, { turn, day: today(), agentDay: today(agent) }),
    written: () => state.writing,
  };
}
