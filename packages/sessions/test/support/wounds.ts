/** Random damage to whole files, the header included, as crashes, editors and other programs leave it. */
import fc from "fast-check";

const KINDS = [
  "torn",
  "nul",
  "blank",
  "twice",
  "changed",
  "gap",
  "lost",
  "stale",
  "bom",
  "late-header",
  "crlf",
] as const;

export interface Wound {
  readonly kind: (typeof KINDS)[number];
  readonly at: number;
}

export const wounds: fc.Arbitrary<readonly Wound[]> = fc.array(
  fc.record({ kind: fc.constantFrom(...KINDS), at: fc.nat({ max: 999 }) }),
  { maxLength: 4 },
);

/** `text` is a sound transcript. */
export function wounded(text: string, all: readonly Wound[]): string {
  const lines = text.trimEnd().split("\n");
  for (const { kind, at } of all) {
    const index = at % lines.length;
    lines.splice(index, 1, ...woundedLine(kind, lines[index] ?? "", at));
    if (lines.length === 0) return "";
  }
  return `${lines.join("\n")}\n`;
}

const TIME = "2026-01-05T09:00:01.000Z";

function woundedLine(kind: Wound["kind"], line: string, at: number): string[] {
  switch (kind) {
    case "torn":
      return [line.slice(0, Math.floor(line.length / 2))];
    case "nul":
      return [`\0\0\0${line}`];
    case "blank":
      return [line, ""];
    case "twice":
      return [line, line];
    case "changed":
      return [line, line.replace(/"timestamp":"[^"]*"/, `$&,"note":${at}`)];
    case "gap":
      return [line.replace(/"parentId":"[^"]*"/, '"parentId":"nowhere"')];
    case "lost":
      return [];
    case "stale": {
      const fence = {
        type: "custom",
        id: `f${at}`,
        parentId: null,
        timestamp: TIME,
        g: 9,
        customType: "holdfast:fence",
      };
      return [JSON.stringify({ ...fence, data: { g: 9 } }), line.replace(/"timestamp":/, '"g":3,"timestamp":')];
    }
    case "bom":
      return [`\uFEFF${line}`];
    case "late-header":
      return [line, `{"type":"session","version":3,"id":"other","timestamp":"${TIME}"}`];
    case "crlf":
      return [`${line}\r`];
  }
}
