/**
 * To-dos in text: found in notes, written as a numbered check list, and read back from one. Pure.
 * Invariant: what `checkList` writes, `findTodos` reads back unchanged.
 */

const BULLET = String.raw`(?:[-*+•]|\d+[.)、．])`;
const MARK = String.raw`(?:to-?dos?|action(?:\s+items?)?|next\s+steps?|待办(?:事项)?|行动项|行动|任务)`;

/** `- [ ] text`, `3. [ ] text` */
const BOX = new RegExp(String.raw`^(?:${BULLET}\s*)?\[( |x|X)?\]\s*(.+)$`);
/** `TODO: text`, `**Action (Mei):** text`, `待办：text`; the text may be missing, then it is a heading. */
const LABEL = new RegExp(
  String.raw`^(?:${BULLET}\s*)?[*_]{0,2}${MARK}\s*(?:[（(]([^)）]*)[)）])?\s*[*_]{0,2}\s*[:：]\s*[*_]{0,2}\s*(.*)$`,
  "iu",
);
const HEADING = /^#{1,6}\s*(.*)$/;
const TODO_HEADING = new RegExp(MARK, "iu");
const LISTED = new RegExp(String.raw`^${BULLET}\s*(.+)$`);

interface Line {
  readonly item: string | null;
  /** Whether list entries that follow are to-dos; null leaves it as it was. */
  readonly section: boolean | null;
}

function readLine(line: string, inSection: boolean): Line {
  const heading = HEADING.exec(line);
  if (heading) return { item: null, section: TODO_HEADING.test(heading[1] ?? "") };
  const box = BOX.exec(line);
  if (box) return { item: box[1]?.toLowerCase() === "x" ? null : (box[2] ?? null), section: null };
  const label = LABEL.exec(line);
  if (label) {
    const [, who, text = ""] = label;
    if (text === "") return { item: null, section: true };
    return { item: who ? `${text} (${who})` : text, section: null };
  }
  const listed = LISTED.exec(line);
  if (listed && inSection) return { item: listed[1] ?? null, section: null };
  return { item: null, section: listed || line === "" ? null : false };
}

/** Open to-dos in order, each once: labelled lines, unticked boxes, and lists under a to-do heading. */
export function findTodos(text: string): readonly string[] {
  const items = new Set<string>();
  let inSection = false;
  for (const raw of text.split(/\r?\n/)) {
    const { item, section } = readLine(raw.trim(), inSection);
    if (item !== null) items.add(item.trim());
    if (section !== null) inSection = section;
  }
  return [...items];
}

/** A numbered Markdown check list with a heading; ends with a line break. */
export function checkList(heading: string, items: readonly string[]): string {
  return `# ${heading}\n\n${items.map((item, index) => `${index + 1}. [ ] ${item}\n`).join("")}`;
}
