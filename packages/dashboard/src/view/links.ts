/** Which addresses of stored text may become links: stored text is data, and `javascript:` is not a place. */

const SCHEMES: readonly string[] = ["http:", "https:", "mailto:"];

/** The address if it is absolute and of an allowed scheme, else "": then the text stays a text. */
export function safeLink(address: string): string {
  const parsed = URL.canParse(address) ? new URL(address) : null;
  return parsed !== null && SCHEMES.includes(parsed.protocol) ? address : "";
}
