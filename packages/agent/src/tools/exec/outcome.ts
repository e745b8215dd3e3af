/**
 * What the model reads of a command: its output, and how it ended when that was not well.
 * Invariant: only the beginning and the end of an output are read, however long it is.
 */
import { open } from "node:fs/promises";
import { join } from "node:path";
import type { ToolOutcome } from "../../types.ts";
import type { Exit } from "./attempt.ts";

/** Bytes that are shown. Errors stand at the end and headings at the start, so what is too long loses its middle. */
const HEAD_BYTES = 8_000;
const TAIL_BYTES = 40_000;

export async function outcomeOf(directory: string, exit: Exit): Promise<ToolOutcome> {
  if (exit.error !== null) return { ok: false, text: `The command could not be run: ${exit.error}` };
  const { text } = await shownOutput(directory);
  const ok = exit.code === 0 && exit.stopped === null;
  const ending = ok ? [] : [`(${endingOf(exit)})`];
  return {
    ok,
    text: [...(text === "" ? [] : [text]), ...ending].join("\n") || "(no output)",
    details: { exitCode: exit.code, signal: exit.signal, stopped: exit.stopped },
  };
}

export function endingOf({ code, signal, stopped }: Exit): string {
  if (stopped === "timeout") return "ended because its time was up";
  if (stopped === "cancelled") return "ended because it was cancelled";
  return signal === null ? `exit code ${code}` : `ended by ${signal}`;
}

/** The output so far: all of it, or its beginning and its end, with the file that has the rest. */
export async function shownOutput(directory: string): Promise<{ readonly text: string }> {
  const path = join(directory, "output");
  await using file = await open(path, "r");
  const { size } = await file.stat();
  const read = async (from: number, length: number): Promise<string> => {
    const bytes = Buffer.alloc(length);
    const { bytesRead } = await file.read(bytes, 0, length, from);
    return new TextDecoder().decode(bytes.subarray(0, bytesRead));
  };
  if (size <= HEAD_BYTES + TAIL_BYTES) return { text: (await read(0, size)).trimEnd() };
  // Half characters at the two cuts are left out.
  const head = (await read(0, HEAD_BYTES)).replace(/\ufffd+$/u, "");
  const tail = (await read(size - TAIL_BYTES, TAIL_BYTES)).replace(/^\ufffd+/u, "");
  const left = size - HEAD_BYTES - TAIL_BYTES;
  return { text: `${head}\n(${left} bytes left out; the whole output is in ${path})\n${tail}`.trimEnd() };
}
