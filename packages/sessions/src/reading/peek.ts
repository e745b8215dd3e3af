/**
 * Id, parent and type of a line without parsing the rest, for lines that are only passed over.
 * Invariant: an answer is given only where the line begins exactly as `encodeEntry` and Pi write it and has no `g`
 * further on; anything else is null and the caller parses. Whether the rest of the line is sound is not known: parse before use.
 */

export interface Peek {
  readonly type: string;
  readonly id: string;
  readonly parentId: string | null;
  readonly g: number | null;
}

const HEAD_BYTES_MAX = 512;
const HEAD =
  /^\{"type":"([a-z_]{1,40})","id":"([\x21\x23-\x5b\x5d-\x7e]{1,128})","parentId":(?:null|"([\x21\x23-\x5b\x5d-\x7e]{1,128})"),"timestamp":"[\x20\x21\x23-\x5b\x5d-\x7e]{0,40}"(?:,"g":(\d{1,15}))?[,}]/;

const G_FIELD = Buffer.from('"g":');

export function peek(line: Buffer): Peek | null {
  const match = HEAD.exec(line.toString("latin1", 0, Math.min(line.length, HEAD_BYTES_MAX)));
  const [, type, id, parentId, g] = match ?? [];
  if (type === undefined || id === undefined || type === "session") return null;
  if (g === undefined && line.includes(G_FIELD)) return null;
  return { type, id, parentId: parentId ?? null, g: g === undefined ? null : Number(g) };
}
