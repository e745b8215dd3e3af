/**
 * What is sent of a reply, and in how many pieces. Pure.
 * Invariants: the pieces together are the text, each within the limit, no character torn; a code block that is cut is closed
 * and opened again; what the agent marked as no reply is none.
 */

/** What an agent says, on a line of its own at the end, when it has nothing to say. */
const NO_REPLY = "NO_REPLY";

/** The text that leaves; empty when nothing is to be sent. */
export function spoken(text: string): string {
  const said = text.trimEnd();
  if (!said.endsWith(NO_REPLY)) return said;
  const before = said.slice(0, -NO_REPLY.length);
  const isOwnLine = before.slice(before.lastIndexOf("\n") + 1).trim() === "";
  return isOwnLine ? before.trimEnd() : said;
}

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/u;

/** Pieces of at most `max` UTF-16 units: cut at paragraphs, else lines, else spaces, else between characters. */
export function split(text: string, max: number | undefined): readonly string[] {
  if (max === undefined || text.length <= max) return [text];
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > 0) {
    const open = fenceIn(rest.slice(0, max));
    // Room for closing a block that has to be cut.
    const room = Math.max(1, max - (open === null ? 0 : open.mark.length + 1));
    if (rest.length <= max) {
      pieces.push(rest);
      break;
    }
    const at = placeToCut(rest, room);
    const piece = rest.slice(0, at).trimEnd();
    const left = rest.slice(at).replace(/^\n+/u, "");
    const cut = fenceIn(piece);
    const reopened = cut === null ? "" : `${cut.line}\n`;
    // A block whose opening line alone fills a piece is cut as plain text: it must get shorter.
    const keeps = cut !== null && reopened.length + cut.mark.length + 1 < max / 2;
    pieces.push(keeps ? `${piece}\n${cut.mark}` : piece);
    rest = keeps ? reopened + left : left;
  }
  return pieces;
}

/** The block that is open at the end of a text. */
function fenceIn(text: string): { readonly mark: string; readonly line: string } | null {
  let open: { readonly mark: string; readonly line: string } | null = null;
  for (const line of text.split("\n")) {
    const [, mark = "", rest = ""] = FENCE.exec(line) ?? [];
    if (mark === "") continue;
    if (open === null) open = { mark, line };
    else if (mark[0] === open.mark[0] && mark.length >= open.mark.length && rest.trim() === "") open = null;
  }
  return open;
}

function placeToCut(text: string, max: number): number {
  const window = text.slice(0, max + 1);
  for (const end of ["\n\n", "\n", " "]) {
    const at = window.lastIndexOf(end, max);
    // Not so early that pieces become crumbs.
    if (at > max / 3) return at;
  }
  const code = text.charCodeAt(max - 1);
  const torn = code >= 0xd800 && code <= 0xdbff && max > 1;
  return torn ? max - 1 : max;
}
