/** Text in columns, and times as people say them. Pure. */

/** What the palette of output.ts adds; nothing else of that kind gets here (`printable`). */
const COLOUR = /\u001b\[\d+m/g;

/** Cells a terminal needs: wide characters (Chinese, Japanese, Korean, emoji) take two. */
export function widthOf(text: string): number {
  let width = 0;
  for (const character of text.replace(COLOUR, "")) width += isWide(character.codePointAt(0)!) ? 2 : 1;
  return width;
}

function isWide(code: number): boolean {
  return (
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  );
}

/** Rows of equal length, two spaces between columns; the last column is not padded. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? "")))) ?? [];
  return rows
    .map((row) => row.map((cell, column) => pad(cell, column === row.length - 1 ? 0 : widths[column]!)).join("  "))
    .map((line) => `${line}\n`)
    .join("");
}

/** With spaces up to `width` cells. */
export function pad(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - widthOf(text)));
}

const STEPS: readonly (readonly [limitMs: number, unitMs: number, unit: string])[] = [
  [60_000, 1000, "s"],
  [3_600_000, 60_000, "min"],
  [86_400_000, 3_600_000, "h"],
  [Number.POSITIVE_INFINITY, 86_400_000, "d"],
];

/** `12 s ago`; `-` for no time, `now` for one in the future or this second. */
export function ago(thenMs: number | undefined, nowMs: number): string {
  if (thenMs === undefined) return "-";
  const passed = nowMs - thenMs;
  if (passed < 1000) return "now";
  const [, unitMs, unit] = STEPS.find(([limitMs]) => passed < limitMs)!;
  return `${Math.floor(passed / unitMs)} ${unit} ago`;
}

/** `1 message`, `2 messages`; `2 entries` where the plural is said. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** Cut to `width` cells, never inside a wide character; what was cut is marked. Colours are not counted and end with it. */
export function clip(text: string, width: number): string {
  if (width === Number.POSITIVE_INFINITY || widthOf(text) <= width) return text;
  let [kept, used] = ["", 0];
  for (const [piece] of text.matchAll(/\u001b\[\d+m|./gsu)) {
    const cells = widthOf(piece);
    if (used + cells > width - 1 && cells > 0) break;
    kept += piece;
    used += cells;
  }
  return `${kept}…${kept.includes("\u001b") ? "\u001b[0m" : ""}`;
}

/** `512 bytes`, `12.3 KB`, `129 MB`. */
export function sizeText(bytes: number): string {
  const [unitBytes, unit] = SIZES.find(([from]) => bytes >= from) ?? [1, "bytes"];
  if (unitBytes === 1) return counted(bytes, "byte");
  const value = bytes / unitBytes;
  return `${value < 100 ? value.toFixed(1) : Math.round(value)} ${unit}`;
}

const SIZES: readonly (readonly [fromBytes: number, unit: string])[] = [
  [1024 ** 3, "GB"],
  [1024 ** 2, "MB"],
  [1024, "KB"],
];

/** Breaks text at `width` cells: between words, and inside Chinese and Japanese text anywhere. Lines it has stay lines. */
export function wrap(text: string, width: number): readonly string[] {
  return text.split("\n").flatMap((line) => wrapLine(line, width));
}

function wrapLine(line: string, width: number): readonly string[] {
  const indent = /^\s*/.exec(line)![0];
  const lines: string[] = [];
  let current = indent;
  for (const piece of line.slice(indent.length).match(/\s+|[^\s\u2e80-\uffff]+|[\u2e80-\uffff]/g) ?? []) {
    if (widthOf(current + piece) > width && current.trim() !== "") {
      lines.push(current.trimEnd());
      current = indent + piece.trimStart();
    } else current += piece;
  }
  return [...lines, current.trimEnd()];
}
