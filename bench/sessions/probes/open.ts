/**
 * What opening costs: ours, and what nobody can be faster than. Each runs in a fresh process, once.
 * Time runs from after the imports to the context built.
 */
import { closeSync, openSync, readSync } from "node:fs";
import { rm } from "node:fs/promises";
import { openSessions, openTranscript } from "@holdfast/sessions";
import { contextOfTranscript } from "@holdfast/sessions/internal";
import { keyAt, type TranscriptData } from "../data.ts";
import { measured, median, settle, statusMb, watched } from "./clock.ts";

type Values = Record<string, number>;

/** The needed tail at a known offset, parsed line by line. */
export async function limit(data: TranscriptData): Promise<Values> {
  const { ms, mb, value } = await measured(() => {
    const fd = openSync(data.path, "r");
    const bytes = Buffer.allocUnsafe(data.bytes - data.tailOffset);
    readSync(fd, bytes, 0, bytes.length, data.tailOffset);
    closeSync(fd);
    const lines = bytes.toString("utf8").split("\n");
    return lines.filter((line) => line !== "").map((line): unknown => JSON.parse(line));
  });
  expectCount(value.length, data.live);
  return { ms, mb };
}

/** A session opened for reading and writing, and its context. */
export async function session(data: TranscriptData): Promise<Values> {
  const { ms, mb, value } = await measured(async () => {
    const opened = await openTranscript(data.path);
    return { opened, context: await opened.context() };
  });
  expectCount(value.context.messages.length, data.live);
  await value.opened.close();
  return { ms, mb };
}

const WARM_ROUNDS = 40;

/** Ours and the limit again and again in one process, in turn: what is left when the code is compiled. */
export async function warm(data: TranscriptData): Promise<Values> {
  const found: { readonly session: number; readonly limit: number }[] = [];
  for (let round = 0; round < WARM_ROUNDS; round++) {
    found.push({ session: (await session(data)).ms ?? 0, limit: (await limit(data)).ms ?? 0 });
  }
  const later = found.slice(WARM_ROUNDS / 2);
  return { session: median(later.map((one) => one.session)), limit: median(later.map((one) => one.limit)) };
}

/** How long others of the process wait while a session is opened whose every entry is live, and its context is made. */
export async function openingStall(data: TranscriptData): Promise<Values> {
  settle();
  const { ms, stallMs, stallCpuMs } = await watched(async () => {
    await using opened = await openTranscript(data.path);
    if (opened.path().length < data.live) throw new Error(`the path has ${opened.path().length} entries`);
  });
  return { ms, stallMs, stallCpuMs };
}

/** The same while every entry's place is found, and while the places are taken from what was kept. */
export async function indexStall(data: TranscriptData): Promise<Values> {
  await forget(data);
  settle();
  const look = () =>
    watched(async () => {
      await using opened = await openTranscript(data.path);
      await opened.entry("ffffffff-no-such-id");
    });
  const cold = await look();
  const kept = await look();
  return {
    ms: cold.ms,
    stallMs: Math.max(cold.stallMs, kept.stallMs),
    stallCpuMs: Math.max(cold.stallCpuMs, kept.stallCpuMs),
  };
}

/** Many chats opened, looked at and closed one after the other: memory at the end, and at its highest, less that before. */
export async function chats(directory: string, count: number): Promise<Values> {
  await using sessions = await openSessions({ directory, fsync: "never", onProblem: () => {} });
  settle();
  const before = statusMb("VmRSS");
  for (let chat = 0; chat < count; chat++) {
    await using opened = await sessions.open(keyAt(chat));
    if ((await opened.context()).messages.length === 0) throw new Error(`chat ${chat} is empty`);
  }
  settle();
  return { mb: statusMb("VmRSS") - before, peakMb: statusMb("VmHWM") - before };
}

/** The same where nobody left anything beside the transcript that could help. */
export async function sessionAlone(data: TranscriptData): Promise<Values> {
  await forget(data);
  return session(data);
}

/** The context of a bare file, with the settings that may stand at its beginning. */
export async function context(data: TranscriptData): Promise<Values> {
  const { ms, mb, value } = await measured(() => contextOfTranscript(data.path));
  expectCount(value.messages.length, data.live);
  return { ms, mb };
}

/** Every line of the file found through one buffer, none parsed. */
export async function lineScan(data: TranscriptData): Promise<Values> {
  const { ms, mb, value } = await measured(() => {
    const fd = openSync(data.path, "r");
    const buffer = Buffer.allocUnsafe(2 ** 20);
    let lines = 0;
    for (let read = readSync(fd, buffer); read > 0; read = readSync(fd, buffer)) {
      const chunk = buffer.subarray(0, read);
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
    }
    closeSync(fd);
    return lines;
  });
  if (value < data.entries) throw new Error(`${value} lines, not ${data.entries}`);
  return { ms, mb };
}

/** An id that is nowhere is looked for, with nothing beside the transcript: every entry's place has to be found first. */
export async function indexCold(data: TranscriptData): Promise<Values> {
  await forget(data);
  await using opened = await openTranscript(data.path);
  const { ms, mb, value } = await measured(() => opened.entry("ffffffff-no-such-id"));
  if (value !== undefined) throw new Error("found what is not there");
  return { ms, mb };
}

/** The first entry of the file, where the places were kept by somebody who looked before. */
export async function indexWarm(data: TranscriptData): Promise<Values> {
  await using opened = await openTranscript(data.path);
  const { ms, mb, value } = await measured(() => opened.entry(data.firstId));
  if (value?.id !== data.firstId) throw new Error("the first entry was not found");
  return { ms, mb };
}

async function forget(data: TranscriptData): Promise<void> {
  await rm(data.path.replace(/\.jsonl$/, ".idx"), { force: true });
}

/** Pi, from its package: `directory` is where the bench installed it. */
export async function pi(data: TranscriptData, directory: string): Promise<Values> {
  const { SessionManager } = (await import(
    `${directory}/node_modules/@earendil-works/pi-coding-agent/dist/index.js`
  )) as {
    SessionManager: { open(path: string): { buildSessionContext(): { messages: unknown[] } } };
  };
  const { ms, mb, value } = await measured(() => SessionManager.open(data.path).buildSessionContext());
  expectCount(value.messages.length, data.live);
  return { ms, mb };
}

function expectCount(found: number, live: number): void {
  // The summary may be counted as a message or stand apart; the limit has the compaction's own line.
  if (Math.abs(found - live) > 1) throw new Error(`the context has ${found} messages, not ${live}`);
}
