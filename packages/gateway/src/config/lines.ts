/**
 * Where in a JSON5 text a path is written, so that a problem can be reported with its line.
 * Reads only structure (brackets, keys, commas); what is inside strings and comments is stepped over.
 */

interface Frame {
  readonly array: boolean;
  index: number;
  key: string | null;
}

const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*'|[{}[\],:]|[^\s{}[\],:'"/]+|\n|\s+|./g;

function unquote(token: string): string {
  return /^["']/.test(token) ? token.slice(1, -1) : token;
}

function pathOf(frames: readonly Frame[]): string {
  return frames.map((frame) => (frame.array ? String(frame.index) : (frame.key ?? ""))).join("\0");
}

/** Line numbers (1-based) by path; the path's parts are joined with NUL. */
export function linesByPath(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const frames: Frame[] = [];
  let line = 1;
  let last = "";
  for (const [token] of text.matchAll(TOKEN)) {
    const frame = frames.at(-1);
    if (token === "{" || token === "[") {
      frames.push({ array: token === "[", index: 0, key: null });
      if (token === "[") lines.set(pathOf(frames), line);
    } else if (token === "}" || token === "]") frames.pop();
    else if (token === ":" && frame) {
      frame.key = unquote(last);
      lines.set(pathOf(frames), line);
    } else if (token === "," && frame?.array) {
      frame.index += 1;
      lines.set(pathOf(frames), line);
    }
    line += token.split("\n").length - 1;
    if (!/^\s|^\/[/*]/.test(token)) last = token;
  }
  return lines;
}

/** The line of a path, or of its nearest written parent, or null. */
export function lineOf(lines: ReadonlyMap<string, number>, path: readonly PropertyKey[]): number | null {
  for (let length = path.length; length > 0; length--) {
    const line = lines.get(path.slice(0, length).map(String).join("\0"));
    if (line !== undefined) return line;
  }
  return null;
}
