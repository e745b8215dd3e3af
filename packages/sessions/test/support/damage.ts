/** Ways in which lines of a file go wrong, for property tests. */
import { isObject, tryParse } from "@holdfast/base";
import fc from "fast-check";
import type { Entry } from "../../src/entry.ts";
import { custom, HEADER } from "./make.ts";

export interface Damage {
  readonly at: number;
  readonly to: number;
  readonly how: (typeof WAYS)[number];
}

const WAYS = [
  "delete",
  "repeat",
  "repeat-later",
  "move",
  "garbage",
  "torn",
  "inner-torn",
  "link",
  "rename",
  "noid",
  "noparent",
  "fence",
  "spaced",
  "time",
] as const;

export const damages = fc.array(
  fc.record({ at: fc.nat({ max: 60 }), to: fc.nat({ max: 60 }), how: fc.constantFrom(...WAYS) }),
  { maxLength: 4 },
);

/** The text of a file in which this went wrong. */
export function damagedFile(entries: readonly Entry[], all: readonly Damage[], end: "\n" | ""): string {
  const lines = [JSON.stringify(HEADER), ...entries.map((entry) => JSON.stringify(entry))];
  for (const one of all) apply(lines, one);
  return lines.map((line, index) => line + (index === lines.length - 1 ? end : "\n")).join("");
}

function apply(lines: string[], { at, to, how }: Damage): void {
  const index = 1 + (at % lines.length);
  const line = lines[index];
  const other = 1 + (to % lines.length);
  if (line === undefined) return;
  const parsed = tryParse(line);
  const fields: Record<string, unknown> = isObject(parsed) ? parsed : {};
  const parentId = typeof fields.parentId === "string" ? fields.parentId : null;
  if (how === "delete") lines.splice(index, 1);
  if (how === "repeat") lines.splice(Math.max(other, index + 1), 0, line);
  if (how === "repeat-later") {
    lines.splice(
      Math.max(other, index + 1),
      0,
      JSON.stringify({ ...fields, timestamp: "2027-01-01T00:00:00.000Z", g: 9 }),
    );
  }
  if (how === "move") lines.splice(other, 0, ...lines.splice(index, 1));
  if (how === "garbage") lines.splice(other, 0, "\0\0\0", "", "not json", "[1]", '{"type":"session","version":3}');
  if (how === "torn") lines.splice(index, 0, line.slice(0, Math.ceil((line.length * (to + 1)) / 62)));
  if (how === "inner-torn") lines.splice(index, 0, line.slice(0, line.lastIndexOf("}", line.length - 2) + 1));
  if (how === "link") lines[index] = JSON.stringify({ ...fields, parentId: `e${to}` });
  if (how === "rename") lines[index] = JSON.stringify({ ...fields, id: `e${to}` });
  if (how === "noid") lines[index] = JSON.stringify({ ...fields, id: undefined });
  if (how === "noparent") lines[index] = JSON.stringify({ ...fields, parentId: to % 2 === 0 ? undefined : 7 });
  if (how === "fence") lines.splice(other, 0, JSON.stringify(custom(`f${to}`, parentId, "holdfast:fence", { g: to })));
  if (how === "spaced") lines[index] = `\uFEFF ${line} \r`;
  if (how === "time")
    lines[index] = JSON.stringify({ ...fields, timestamp: ["soon", "2026-02-31T00:00:00Z", 5][to % 3] });
}
