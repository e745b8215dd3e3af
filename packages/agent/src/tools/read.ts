/** The `read` tool: lines of a text file in the workspace. It changes nothing, so it may be repeated at will. */
import { z } from "zod";
import type { Tool, ToolOutcome } from "../types.ts";
import { argumentsOf } from "./arguments.ts";
import { placeIn } from "./paths.ts";
import { readState } from "./file-state.ts";

const SHOWN_CHARS_MAX = 50_000;
const FILE_BYTES_MAX = 64 * 1024 * 1024;
const SNIFFED_BYTES = 8_000;

const schema = z.strictObject({
  path: z.string().describe("File, relative to the workspace"),
  offset: z.int().min(1).optional().describe("First line to read, from 1"),
  limit: z.int().min(1).optional().describe("How many lines to read"),
});

export function readTool(): Tool {
  const { spec, check, parse } = argumentsOf("read", "Read a text file in the workspace.", schema);
  return {
    spec,
    check,
    effect: "none",
    async run(args, _evidence, { workspace }) {
      const { path, offset = 1, limit } = parse(args);
      const place = await placeIn(workspace, path);
      if (place.kind === "refused") return refused(place.text);
      if (place.stat === null) return refused(`${path} does not exist.`);
      if (place.stat.size > FILE_BYTES_MAX)
        return refused(`${path} is larger than 64 MB; use a command to look into it.`);
      const { bytes } = await readState(place.path);
      if (bytes.subarray(0, SNIFFED_BYTES).includes(0))
        return refused(`${path} is a binary file of ${bytes.length} bytes.`);
      return { ok: true, text: linesOf(new TextDecoder().decode(bytes), offset, limit) };
    },
  };
}

function refused(text: string): ToolOutcome {
  return { ok: false, text };
}

/** The lines asked for, cut at a line's end where they are too many, with a note on how to go on. */
function linesOf(text: string, offset: number, limit: number | undefined): string {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  if (offset > 1 && offset > lines.length) return `(the file has ${lines.length} lines)`;
  const wanted = lines.slice(offset - 1, limit === undefined ? undefined : offset - 1 + limit);
  const shown = fitting(wanted);
  const next = offset + shown.count;
  if (next > lines.length) return shown.text === "" ? "(the file is empty)" : shown.text;
  return `${shown.text}\n(${lines.length - next + 1} more lines; go on with offset ${next})`;
}

function fitting(lines: readonly string[]): { readonly text: string; readonly count: number } {
  let chars = 0;
  const count = lines.findIndex((line) => {
    chars += line.length + 1;
    return chars > SHOWN_CHARS_MAX;
  });
  if (count === -1) return { text: lines.join("\n"), count: lines.length };
  if (count > 0) return { text: lines.slice(0, count).join("\n"), count };
  const first = lines[0] ?? "";
  const note = `(cut here: the line has ${first.length - SHOWN_CHARS_MAX} more characters)`;
  return { text: `${first.slice(0, SHOWN_CHARS_MAX).toWellFormed()}\n${note}`, count: 1 };
}
