/** What a measurement looks at: time, the peak of memory since a moment, and how long the event loop stood still. */
import { readFileSync, writeFileSync } from "node:fs";

export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

export function statusMb(field: "VmRSS" | "VmHWM"): number {
  const status = readFileSync("/proc/self/status", "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 1024;
}

/** Collects what loading the program left behind: its garbage would be cleared away during whatever is measured first. */
export function settle(): void {
  (globalThis as { gc?: () => void }).gc?.();
}

/** Milliseconds of `work`, and by how many MB the process grew at its peak meanwhile (Linux; else NaN). */
export async function measured<T>(work: () => T | Promise<T>): Promise<{ ms: number; mb: number; value: T }> {
  const isLinux = process.platform === "linux";
  settle();
  // Resets the peak; see proc(5).
  if (isLinux) writeFileSync("/proc/self/clear_refs", "5");
  const before = isLinux ? statusMb("VmRSS") : Number.NaN;
  const from = performance.now();
  const value = await work();
  const ms = performance.now() - from;
  return { ms, mb: isLinux ? statusMb("VmHWM") - before : Number.NaN, value };
}

/** The longest time without a turn of the event loop: by the clock, and how much of it this thread was computing. */
export interface Stall {
  readonly stallMs: number;
  readonly stallCpuMs: number;
}

/** Runs `work` beside a timer of one millisecond. What the system did to the process shows in the clock only. */
export async function watched(work: () => Promise<unknown>): Promise<Stall & { ms: number }> {
  const cpuMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
  const longest = { stallMs: 0, stallCpuMs: 0 };
  let last = { at: performance.now(), cpu: cpuMs() };
  const look = (): void => {
    const now = { at: performance.now(), cpu: cpuMs() };
    longest.stallMs = Math.max(longest.stallMs, now.at - last.at);
    longest.stallCpuMs = Math.max(longest.stallCpuMs, now.cpu - last.cpu);
    last = now;
  };
  const timer = setInterval(look, 1);
  const from = performance.now();
  try {
    await work();
    look();
    return { ms: performance.now() - from, ...longest };
  } finally {
    clearInterval(timer);
  }
}
