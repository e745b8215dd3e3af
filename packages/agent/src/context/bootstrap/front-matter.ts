/**
 * The few lines of YAML at the head of a SKILL.md: plain, quoted and block texts, one level deep. Pure.
 * Invariant: what is written otherwise is left out; a skill with odd lines is listed by its folder, never lost.
 */

const OPENING = /^\uFEFF?---[ \t]*\r?\n/;
const CLOSING = /^(?:---|\.\.\.)[ \t]*$/;
const FIELD = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/;

/** Fields of the first level whose value is one text. Lines of others are skipped. */
export function frontMatter(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  if (!OPENING.test(text)) return fields;
  const lines = text.replace(OPENING, "").split(/\r?\n/);
  const end = lines.findIndex((line) => CLOSING.test(line));
  if (end < 0) return fields;
  const head = lines.slice(0, end);
  for (const [index, line] of head.entries()) {
    const field = FIELD.exec(line);
    if (field?.[1] === undefined) continue;
    const value = fieldText((field[2] ?? "").trim(), indentedAfter(head, index));
    if (value !== "") fields.set(field[1], value);
  }
  return fields;
}

/** The lines that belong to a field: those below it that begin with a blank. */
function indentedAfter(lines: readonly string[], index: number): readonly string[] {
  const rest = lines.slice(index + 1);
  const end = rest.findIndex((line) => line !== "" && !/^[ \t]/.test(line));
  return end < 0 ? rest : rest.slice(0, end);
}

function fieldText(first: string, more: readonly string[]): string {
  if (/^[|>][+-]?\d?$/.test(first)) return unfolded(more);
  // Maps and lists are not texts.
  if (/^[[{&*!]/.test(first)) return "";
  if (first === "" && more.some((line) => /^\s*(?:-\s|[\w-]+:\s)/.test(line))) return "";
  return unquoted([first, ...more.map((line) => line.trim())].join(" ").trim());
}

/** One line: a description is a sentence, however it was wrapped. */
function unfolded(lines: readonly string[]): string {
  return lines
    .map((line) => line.trim())
    .join(" ")
    .replace(/\s+/g, " ")
    .trim();
}

function unquoted(value: string): string {
  const double = /^"((?:[^"\\]|\\.)*)"/.exec(value);
  if (double?.[1] !== undefined)
    return double[1].replace(/\\(.)/g, (_, escaped: string) => ESCAPED[escaped] ?? escaped);
  const single = /^'((?:[^']|'')*)'/.exec(value);
  if (single?.[1] !== undefined) return single[1].replaceAll("''", "'");
  return value.replace(/(?:^|\s)#.*$/, "").trim();
}

const ESCAPED: Readonly<Record<string, string>> = { n: " ", t: " ", r: " " };
