/** What the beginning of a line tells is what parsing it tells. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeEntry, fieldsOf, parseLine } from "../../src/entry.ts";
import { readHead } from "../../src/sidecar/heads.ts";
import { emptySlot, hashOf, KINDS, LINKED, ROOT } from "../../src/sidecar/slots.ts";
import { damagedFile, damages } from "../support/damage.ts";
import { user } from "../support/make.ts";
import { transcripts } from "../support/trees.ts";

function headOf(line: string | Buffer, before = ""): { head: string; slot: ReturnType<typeof emptySlot> } {
  const slot = emptySlot();
  const bytes = Buffer.concat([Buffer.from(before), Buffer.from(line)]);
  return { head: readHead(bytes, before.length, bytes.length, 77, slot), slot };
}

function checkLine(line: string): void {
  const { head, slot } = headOf(line, "{}\n");
  const parsed = parseLine(line);
  const isFence = parsed.kind === "entry" && fieldsOf(parsed.entry).customType === "holdfast:fence";
  const known = isFence || parsed.kind === "anonymous" ? "odd" : "other";
  expect(head).toBe(parsed.kind === "entry" && !isFence ? "entry" : known);
  if (parsed.kind !== "entry" || isFence) return;
  const { id, type, parentId, timestamp } = fieldsOf(parsed.entry);
  expect(slot.id).toEqual(hashOf(String(id)));
  expect(KINDS[slot.kind]).toBe((KINDS as readonly string[]).includes(String(type)) ? type : "");
  expect(slot.link).toBe(parentId === null ? ROOT : typeof parentId === "string" && parentId !== "" ? LINKED : 0);
  if (typeof parentId === "string") expect(slot.parent).toEqual(hashOf(parentId));
  const timeMs = typeof timestamp === "string" ? Date.parse(timestamp) : Number.NaN;
  expect(slot.timeMs).toBe(timeMs >= 0 && timeMs < 2 ** 47 ? timeMs : Number.NaN);
  expect([slot.offset, slot.length]).toEqual([77, Buffer.byteLength(line)]);
}

test("lines of random files, sound and damaged", () => {
  fc.assert(
    fc.property(transcripts, damages, (entries, all) => {
      // A line torn behind an inner brace looks whole from its beginning: whoever reads it notices.
      const file = damagedFile(
        entries,
        all.filter(({ how }) => how !== "inner-torn" && how !== "torn"),
        "\n",
      );
      for (const line of file.split("\n")) checkLine(line);
    }),
    { seed: 3, numRuns: 300 },
  );
});

test("a line cut anywhere is no entry, unless the cut leaves a closed brace", () => {
  const line = encodeEntry(user("u1", "u0", "hello {world}"));
  for (let length = 0; length < line.length; length++) {
    const cut = line.slice(0, length);
    expect(headOf(cut).head, cut).toBe(cut.endsWith("}") ? "entry" : "other");
  }
});

test("ids and types that are not written plainly are parsed", () => {
  for (const id of ["ü", 'a"b', "a\\b", "\u2028", "x".repeat(200), " ", "line-1"]) {
    checkLine(JSON.stringify({ type: "message", id, parentId: id, timestamp: "2026-01-01T00:00:00.000Z" }));
    checkLine(JSON.stringify({ type: id, id: "a", parentId: null, timestamp: "2026-01-01T00:00:00.000Z" }));
  }
  checkLine('{"type":"session","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z"}');
  checkLine('{"type":"label","id":"","parentId":null,"timestamp":"2026-01-01T00:00:00.000Z"}');
  checkLine(
    '{"type":"label","id":"a","parentId":"","timestamp":"2026-01-01T00:00:00.000Z"}'.replace(
      '"parentId":""',
      '"parentId":"p"',
    ),
  );
  checkLine('{"id":"a","type":"label","timestamp":"2026-01-01T00:00:00.000Z","parentId":null}');
});

const LOOK_ALIKES = [
  '"id":"',
  '","id":"x","parentId":"y',
  '{"type":"message","id":"u2","parentId":"u1","timestamp":"2026-01-01T00:00:00.000Z"}',
  '\\","parentId":null,"timestamp":"',
  '"}',
  "\u0000\u2028\ud800",
];
const names = fc.constantFrom("type", "id", "parentId", "timestamp", "g", "message", "data", "i\u0000d", "ID");
const texts = fc.oneof(fc.constantFrom(...LOOK_ALIKES, "message", "custom", "session", "a1", ""), fc.string());
const values = fc.oneof(
  texts,
  fc.constantFrom<unknown>(null, 7, true, "2026-02-28T23:59:59.999Z", "2026-02-30T00:00:00.000Z", "2026-01-01"),
  fc.record({ type: texts, id: texts, parentId: texts, nested: fc.array(texts, { maxLength: 2 }) }),
);
const FIRST = ["type", "id", "parentId", "timestamp"] as const;
const sound = fc.record({
  type: fc.constantFrom("message", "custom", "x_y", "session"),
  id: fc.oneof(fc.constant("a1"), texts),
  parentId: fc.oneof(fc.constantFrom(null, "a0"), values),
  timestamp: fc.oneof(fc.constant("2026-01-05T09:00:00.000Z"), values),
});

/** A field named or written otherwise than `JSON.stringify` does it. */
function rewritten(line: string, how: number): string {
  const forms = [
    line,
    line.replaceAll('":', '": '),
    line.replaceAll(',"', ' ,\t"'),
    line.replace('"id"', '"\\u0069d"'),
    line.replace('"parentId"', '"parent\\u0049d"'),
    line.replace('"a1"', '"\\u0061\\u0031"'),
    line.replace('"timestamp"', '"time\\u0073tamp"'),
    ` ${line}`,
    `${line}\r`,
    `\uFEFF${line}`,
  ];
  return forms[how] ?? line;
}

test("fields in any order, named and written in any way, and texts that look like fields", () => {
  let quick = 0;
  const more = fc.dictionary(names, values, { maxKeys: 4 });
  fc.assert(
    fc.property(sound, more, fc.shuffledSubarray([...FIRST]), fc.nat({ max: 9 }), (fields, rest, first, how) => {
      const ordered = [...first, ...Object.keys(rest), ...FIRST].map((name) => [name, { ...rest, ...fields }[name]]);
      const line = JSON.stringify(Object.fromEntries(ordered));
      checkLine(rewritten(line, how));
      checkLine(JSON.stringify({ ...fields, ...rest, ...fields }));
      checkLine(JSON.stringify(rest));
      quick += line.startsWith('{"type":"message","id":"a1","parentId":') ? 1 : 0;
    }),
    { seed: 6, numRuns: 2000 },
  );
  expect(quick).toBeGreaterThan(5);
});

test("any byte of the small fields written over, the line still sound", () => {
  const line = Buffer.from(encodeEntry(user("u1", "u0", "hello")));
  const end = line.indexOf(',"message"');
  for (let at = 0; at < end; at++) {
    for (const byte of Buffer.from('"\\}{:,[0Z-Tx \u0001\u007f')) {
      const other = Buffer.from(line);
      other[at] = byte;
      if (parseLine(other).kind !== "damaged") checkLine(other.toString("latin1"));
    }
  }
});

test("every day of four centuries has its time", () => {
  const line = (timestamp: string) => JSON.stringify({ type: "label", id: "a", parentId: null, timestamp });
  for (let day = 0; day < 400 * 366; day += 37) {
    const timeMs = day * 86_400_000 + ((day * 7919) % 86_400_000);
    expect(headOf(line(new Date(timeMs).toISOString())).slot.timeMs).toBe(timeMs);
  }
  for (const odd of [
    "2026-13-01T00:00:00.000Z",
    "2026-01-01T24:00:00.001Z",
    "2026-01-01T00:00:60.000Z",
    "2026-0:-01T00:00:00.000Z",
    "x",
    "",
    "1969-01-01T00:00:00.000Z",
  ]) {
    const parsed = Date.parse(odd);
    expect(headOf(line(odd)).slot.timeMs, odd).toBe(parsed >= 0 ? parsed : Number.NaN);
  }
});
