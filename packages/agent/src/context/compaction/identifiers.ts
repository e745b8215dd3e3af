/**
 * Identifiers that a summary must not lose: what cannot be guessed from what is left. Pure.
 *
 * Invariant: those that are missing are added as they were, within a size; the newest first.
 */

const IDENTIFIERS =
  /https?:\/\/[^\s"'<>)\]]+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[A-Z][A-Z0-9]{1,9}-\d+\b|\b(?=[0-9a-f]*\d)(?=\d*[a-f])[0-9a-f]{8,64}\b|\b\d{6,}\b|(?<![\w/])\/(?:[\w.-]+\/)+[\w.-]+/g;
const COUNT_MAX = 40;
const CHARS_MAX = 3_000;
const HEADING = "## Identifiers";

/** The summary, with the identifiers of what it stands for that it does not name. */
export function keptIdentifiers(summary: string, source: string): string {
  const found = [...new Set([...source.matchAll(IDENTIFIERS)].map(([identifier]) => identifier).reverse())];
  const missing: string[] = [];
  let chars = 0;
  for (const identifier of found) {
    if (summary.includes(identifier) || identifier.length > 300) continue;
    chars += identifier.length + 3;
    if (missing.length === COUNT_MAX || chars > CHARS_MAX) break;
    missing.push(identifier);
  }
  if (missing.length === 0) return summary;
  const lines = missing.reverse().map((identifier) => `- ${identifier}`);
  return summary.includes(HEADING)
    ? `${summary}\n${lines.join("\n")}`
    : `${summary}\n\n${HEADING}\n${lines.join("\n")}`;
}
