/**
 * `holdfast transcript append FILE`: entries without id and parent as JSON lines on stdin, acknowledged one by one.
 * Invariant: an acknowledgement is printed only after its entry is as durable as it says; what arrived together is written
 * together, and a line that cannot be appended stops everything after it.
 */
import { CodedError, isObject, messageOf } from "@holdfast/base";
import { type Entry, type NewEntry, openTranscript, type Session } from "@holdfast/sessions";
import type { CommandContext } from "../context.ts";
import { CliError, EXIT, type ExitCode } from "../errors.ts";
import { lineBatches } from "../lines.ts";
import type { Output } from "../output.ts";

/** Entries of one write; bounds what is lost from sight when a write fails. */
const TOGETHER_MAX = 256;

interface Line {
  /** From 1. */
  readonly number: number;
  readonly entry: NewEntry;
}

/** A file that is not there is begun. Prints `{"id","parentId","durable"}` per line. Throws `bad_line`, `output_closed`, and what writing throws. */
export async function append(
  context: CommandContext,
  file: string,
  stdin: AsyncIterable<Uint8Array>,
): Promise<ExitCode> {
  await using session = await openTranscript(file, { create: true }, context.world);
  let number = 0;
  for await (const texts of lineBatches(stdin)) {
    for (let from = 0; from < texts.length; from += TOGETHER_MAX) {
      const some = texts.slice(from, from + TOGETHER_MAX);
      await appendLines(
        session,
        some.map((text, index) => ({ number: number + index + 1, text })),
        context.output,
      );
      number += some.length;
    }
  }
  return EXIT.ok;
}

async function appendLines(
  session: Session,
  texts: readonly { readonly number: number; readonly text: string }[],
  output: Output,
): Promise<void> {
  const good: Line[] = [];
  for (const { number, text } of texts) {
    if (text.trim() === "") continue;
    const read = readLine(text);
    if (typeof read === "string") {
      await write(session, good, output);
      throw new CliError("bad_line", { line: number, why: read });
    }
    good.push({ number, entry: read });
  }
  await write(session, good, output);
}

/** The entry, or why it is none. */
function readLine(text: string): NewEntry | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `it is not JSON (${messageOf(error)})`;
  }
  if (!isObject(value)) return "it is not a JSON object";
  if (typeof value.type !== "string") return 'it has no "type"';
  const given = ["id", "parentId"].filter((name) => name in value);
  if (given.length > 0) return `it gives ${given.join(" and ")}, which are assigned here`;
  return { ...value, type: value.type };
}

/** All of them in one write; if the session refuses that, one by one, so that the line at fault can be named. */
async function write(session: Session, lines: readonly Line[], output: Output): Promise<void> {
  if (lines.length === 0) return;
  try {
    const { entries, durable } = await session.append(lines.map((line) => line.entry));
    acknowledge(entries.slice(0, lines.length), durable, output);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (lines.length === 1) throw new CliError("bad_line", { line: lines[0]!.number, why: error.message }, error);
    for (const line of lines) await write(session, [line], output);
  }
}

/** Refusals leave the file as it was; anything else (a full disk, a lost lock) ends the command under its own code. */
function isRefusal(error: unknown): error is CodedError {
  return error instanceof CodedError && (error.code === "bad_entry" || error.code === "calls_open");
}

function acknowledge(entries: readonly Entry[], durable: boolean, output: Output): void {
  for (const { id, parentId } of entries) output.jsonLine({ id, parentId, durable });
  if (output.closed) throw new CliError("output_closed");
}
