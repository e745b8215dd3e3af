/**
 * Fault points: named places where the process may be killed, counted in the order they are reached.
 *
 * Every write to disk, network answer and effect passes `world.at(name)`. In production that is one call of
 * an empty function. With `HOLDFAST_FAULT` set, the same binary is killed at the n-th point, or held there until
 * somebody else kills it: recovery is tested on the real program, not on a copy of it.
 *
 * `HOLDFAST_FAULT` is one of
 *   `kill@<n>`            SIGKILL at the n-th point (1-based), whatever its name
 *   `kill@<name>#<k>`     SIGKILL at the k-th time the named point is reached
 *   `hold@<name>#<k>`     block there for ever (the whole process), after writing the trace line
 * `HOLDFAST_FAULT_TRACE` names a file that gets one line `<n> <name>` per point, written before the point acts.
 */
import { appendFileSync } from "node:fs";

export type PointHook = (name: string) => void;

interface Plan {
  readonly act: "kill" | "hold";
  readonly name: string | undefined;
  readonly count: number;
}

function parsePlan(text: string | undefined): Plan | undefined {
  if (text === undefined || text === "") return undefined;
  const match = /^(kill|hold)@(?:([a-z][\w.:-]*)#)?([1-9]\d*)$/.exec(text);
  // A mistyped plan must not pass for a run without a fault.
  if (!match) throw new TypeError(`HOLDFAST_FAULT: write kill@<n>, kill@<name>#<k> or hold@<name>#<k>, not ${text}`);
  return { act: match[1] === "hold" ? "hold" : "kill", name: match[2], count: Number(match[3]) };
}

function act(plan: Plan): void {
  if (plan.act === "kill") process.kill(process.pid, "SIGKILL");
  // Held or already killed: nothing of this process may run on past the point.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** The hook that the environment asks for, or one that does nothing. */
export function pointsFromEnvironment(env: Readonly<Record<string, string | undefined>>): PointHook {
  const plan = parsePlan(env.HOLDFAST_FAULT);
  const trace = env.HOLDFAST_FAULT_TRACE;
  if (plan === undefined && trace === undefined) return () => {};
  const reached = new Map<string, number>();
  let total = 0;
  return (name) => {
    total += 1;
    const times = (reached.get(name) ?? 0) + 1;
    reached.set(name, times);
    if (trace !== undefined) appendFileSync(trace, `${total} ${name}\n`, { mode: 0o600 });
    if (plan === undefined) return;
    const due = plan.name === undefined ? total === plan.count : plan.name === name && times === plan.count;
    if (due) act(plan);
  };
}
