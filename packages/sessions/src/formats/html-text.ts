/**
 * Text that somebody said, as HTML. Pure.
 * Invariant: every character that was said is escaped; only links to the web and to mail addresses become links (B183).
 */

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Safe between tags and in quoted attributes. Control characters that HTML does not allow are shown as what they are. */
export function escapeHtml(text: string): string {
  return text
    .toWellFormed()
    .replace(/[&<>"']/g, (found) => ESCAPES[found] ?? "")
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g, (found) => {
      return `\\x${found.charCodeAt(0).toString(16).padStart(2, "0")}`;
    });
}

const FENCE = /^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:^\1[^\S\n]*$|(?![\s\S]))/gm;

/** Paragraphs, fenced and inline code, bold, headings and web links; everything else stays as it was written. */
export function textToHtml(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(FENCE)) {
    parts.push(plainToHtml(text.slice(from, match.index)));
    parts.push(`<pre><code>${escapeHtml((match[2] ?? "").replace(/\n$/, ""))}</code></pre>`);
    from = match.index + match[0].length;
  }
  parts.push(plainToHtml(text.slice(from)));
  return parts.join("");
}

function plainToHtml(text: string): string {
  const paragraphs = text.split(/\n{2,}/).filter((part) => part.trim() !== "");
  return paragraphs.map(paragraphToHtml).join("");
}

function paragraphToHtml(text: string): string {
  const [, heading, rest = ""] = /^\n*#{1,6} +([^\n]+)([\s\S]*)$/.exec(text) ?? [];
  if (heading !== undefined) {
    return `<p class="heading">${inlineToHtml(heading)}</p>${rest.trim() === "" ? "" : paragraphToHtml(rest)}`;
  }
  return `<p>${inlineToHtml(text.replace(/^\n+|\n+$/g, ""))}</p>`;
}

const INLINE =
  /`([^`\n]+)`|\*\*([^*\n]+)\*\*|\[([^\]\n]{1,300})\]\(((?:https?:\/\/|mailto:)[^\s()<>"']{1,2000})\)|(https?:\/\/[^\s<>"'`）」】，。、；]{1,2000}[^\s<>"'`）」】，。、；.,;:!?)\]])/g;

function inlineToHtml(text: string): string {
  const parts: string[] = [];
  let from = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, code, bold, label, target, address] = match;
    parts.push(escapeHtml(text.slice(from, match.index)));
    if (code !== undefined) parts.push(`<code>${escapeHtml(code)}</code>`);
    else if (bold !== undefined) parts.push(`<strong>${escapeHtml(bold)}</strong>`);
    else parts.push(linkTo(target ?? address ?? "", label ?? address ?? ""));
    from = match.index + whole.length;
  }
  parts.push(escapeHtml(text.slice(from)));
  return parts.join("");
}

function linkTo(address: string, label: string): string {
  return `<a href="${escapeHtml(address)}" rel="noopener noreferrer nofollow">${escapeHtml(label)}</a>`;
}
