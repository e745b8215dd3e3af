/** What the index costs: start, list, update and fold among many rows, against one synced line. On a copy of the store. */
import { closeSync, cpSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openSessions, type Sessions } from "@holdfast/sessions";
import { dataDirectory, keyAt } from "../data.ts";
import { median, watched } from "./clock.ts";

async function onCopy<T>(store: string, work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(dataDirectory(), "rows-"));
  try {
    cpSync(store, directory, { recursive: true });
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** From nothing to the first answer. */
export async function start(store: string): Promise<Record<string, number>> {
  return onCopy(store, async (directory) => {
    let sessions: Sessions | undefined;
    const seen = await watched(async () => {
      sessions = await openSessions({ directory });
      if ((await sessions.get(keyAt(1))) === undefined) throw new Error("a row is missing");
    });
    await sessions?.close();
    return { ...seen };
  });
}

/** `first`: the first list of a process; `list`: the median of the following. */
export async function list(store: string): Promise<Record<string, number>> {
  return onCopy(store, async (directory) => {
    await using sessions = await openSessions({ directory });
    await sessions.get(keyAt(1));
    const times: number[] = [];
    const first = await watched(() => sessions.list({ limit: 50 }));
    for (let round = 0; round < 200; round++) {
      const from = performance.now();
      const rows = await sessions.list({ limit: 50 });
      times.push(performance.now() - from);
      if (rows.length !== 50) throw new Error(`${rows.length} rows`);
    }
    return { first: first.ms, firstStallMs: first.stallMs, firstStallCpuMs: first.stallCpuMs, list: median(times) };
  });
}

/** One row updated, and one line of the same length appended and synced, in turn. */
export async function update(store: string, rows: number, count: number): Promise<Record<string, number>> {
  return onCopy(store, async (directory) => {
    await using sessions = await openSessions({ directory });
    const fd = openSync(join(directory, "bare"), "a");
    const line = Buffer.from(`${"x".repeat(330)}\n`);
    const found = { update: [] as number[], bare: [] as number[] };
    await sessions.update(keyAt(1), { label: "warm" });
    for (let index = 0; index < count; index++) {
      const from = performance.now();
      await sessions.update(keyAt(index % rows), { label: `changed ${index}` });
      const between = performance.now();
      writeSync(fd, line);
      fdatasyncSync(fd);
      found.update.push(between - from);
      found.bare.push(performance.now() - between);
    }
    closeSync(fd);
    return { update: median(found.update), bare: median(found.bare) };
  });
}

/** A fold of the whole index at a clean stop. */
export async function fold(store: string): Promise<Record<string, number>> {
  return onCopy(store, async (directory) => {
    const sessions = await openSessions({ directory });
    await sessions.update(keyAt(1), { label: "changed" });
    return { ...(await watched(() => sessions.close())) };
  });
}
