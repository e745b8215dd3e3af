/** What the model reads of a command that ended: its output, and how it ended when that was not well. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolOutcome } from "../../types.ts";
import type { Exit } from "./attempt.ts";

const SHOWN_CHARS_MAX = 48_000;
const HEAD_CHARS = 8_000;

export async function outcomeOf(directory: string, exit: Exit): Promise<ToolOutcome> {
  if (exit.error !== null) return { ok: false, text: `The command could not be run: ${exit.error}` };
  const bytes = await readFile(join(directory, "output"));
  const text = withoutMiddle(new TextDecoder().decode(bytes));
  const capped =
    exit.outputBytes > bytes.length
      ? [`(only the first ${bytes.length} of ${exit.outputBytes} bytes of output were kept)`]
      : [];
  const ok = exit.code === 0 && exit.stopped === null;
  const ending = ok ? [] : [`(${endingOf(exit)})`];
  return {
    ok,
    text: [...(text === "" ? [] : [text]), ...capped, ...ending].join("\n") || "(no output)",
    details: { exitCode: exit.code, signal: exit.signal, stopped: exit.stopped },
  };
}

function endingOf({ code, signal, stopped }: Exit): string {
  if (stopped === "timeout") return "ended because its time was up";
  if (stopped === "cancelled") return "ended because it was cancelled";
  return signal === null ? `exit code ${code}` : `ended by ${signal}`;
}

/** Errors stand at the end and headings at the start, so what is too long loses its middle. */
function withoutMiddle(text: string): string {
  if (text.length <= SHOWN_CHARS_MAX) return text.trimEnd();
  const left = text.length - SHOWN_CHARS_MAX;
  const head = text.slice(0, HEAD_CHARS);
  const tail = text.slice(text.length - (SHOWN_CHARS_MAX - HEAD_CHARS));
  return `${head}\n(${left} characters left out)\n${tail}`.toWellFormed().trimEnd();
}
