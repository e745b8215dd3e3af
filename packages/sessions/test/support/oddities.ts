/**
 * A transcript as lines that say themselves what a reader must get from them, and everything that may be odd about one.
 * Invariant: an oddity touches lines that no other one has touched, so any two can be combined and each still is what it says.
 */
import { encodeEntry } from "../../src/entry.ts";
import { answer, call, compaction, custom, HEADER, make, result, user } from "./make.ts";

export type Fields = Readonly<Record<string, unknown>>;
export type Noted = "blank line" | "carriage return" | "unknown type";

export interface Line {
  readonly bytes: Buffer;
  /** What is on it; "blank", or "damage" when nothing on it can be used. */
  readonly holds: Fields | "blank" | "damage";
  /** Used, and reported as damaged all the same. */
  readonly flawed: boolean;
  readonly noted: readonly Noted[];
  readonly touched: boolean;
}

export interface OddFile {
  readonly lines: Line[];
  /** Whether the last line has its line end. */
  ended: boolean;
}

/** Two branches, a compaction, a call with its result, a label; it stands at a5. */
const ENTRIES = [
  custom("s0", null, "holdfast:session", { key: "agent:main:odd", agentId: "main" }),
  user("u1", "s0", "one"),
  answer("a1", "u1", "eins"),
  user("u2", "a1", "two"),
  call("c1", "u2", ["t1"]),
  result("r1", "c1", "t1"),
  compaction("k1", "r1", "u2"),
  user("u3", "k1", "three"),
  answer("a3", "u3", "drei"),
  custom("l1", "a1", "holdfast:leaf", { from: "a3" }),
  user("v1", "l1", "two otherwise"),
  answer("w1", "v1", "zwei, anders"),
  custom("l2", "a3", "holdfast:leaf", { from: "w1" }),
  make("label", "n1", "l2", { targetId: "u1", label: "begin" }),
  user("u5", "n1", "five"),
  answer("a5", "u5", "fünf"),
].map((entry) => JSON.parse(encodeEntry(entry)) as Fields);

export function soundFile(): OddFile {
  return { lines: [HEADER as Fields, ...ENTRIES].map((fields) => ({ ...of(fields), touched: false })), ended: true };
}

export function bytesOf({ lines, ended }: OddFile): Buffer {
  const end = Buffer.from("\n");
  return Buffer.concat(lines.flatMap(({ bytes }, at) => (ended || at < lines.length - 1 ? [bytes, end] : [bytes])));
}

function of(holds: Fields, more: Partial<Line> = {}): Line {
  return { bytes: Buffer.from(JSON.stringify(holds)), holds, flawed: false, noted: [], touched: true, ...more };
}
function damage(bytes: string | Buffer): Line {
  return { bytes: Buffer.from(bytes), holds: "damage", flawed: false, noted: [], touched: true };
}
function blank(bytes: string): Line {
  return { bytes: Buffer.from(bytes), holds: "blank", flawed: false, noted: ["blank line"], touched: true };
}

/** `at` is any number: where. Does nothing where there is no line left for it. */
export type Oddity = (file: OddFile, at: number) => void;

/** One line of its own becomes another, or several; only entries are taken, and only those that `fits`. */
function change(to: (line: Line, fields: Fields, at: number) => Line | Line[], fits = (_: Fields) => true): Oddity {
  return (file, at) => {
    const free = file.lines.flatMap((line, index) => {
      const { holds, touched } = line;
      return touched || typeof holds === "string" || holds.type === "session" || !fits(holds) ? [] : [{ index, holds }];
    });
    const found = free[at % free.length];
    if (found === undefined) return;
    file.lines.splice(found.index, 1, ...[to(file.lines[found.index]!, found.holds, at)].flat());
  };
}
/** A line more, somewhere after the first and before the last. */
function insert(line: (at: number) => Line): Oddity {
  return ({ lines }, at) => void lines.splice(1 + (at % Math.max(1, lines.length - 1)), 0, line(at));
}
function withFields(fields: (was: Fields) => Fields, fits?: (was: Fields) => boolean): Oddity {
  return change((_, was) => of(fields(was)), fits);
}
/** Around or inside of a line that stays what it is. */
function text(edit: (text: string) => string, more: Partial<Line> = {}, fits?: (was: Fields) => boolean): Oddity {
  return change((line, holds) => ({ ...of(holds, more), bytes: Buffer.from(edit(line.bytes.toString())) }), fits);
}
function said(edit: (content: string) => string): Oddity {
  return change((line, holds) => {
    const json = line.bytes.toString().replace(/"text":"([^"]*)"/, (_, content: string) => `"text":"${edit(content)}"`);
    return of(JSON.parse(json) as Fields, { bytes: Buffer.from(json), holds });
  }, hasText);
}
/** Bytes that are no UTF-8 in the middle of a text. */
function raw(bytes: readonly number[]): Oddity {
  return change((line, holds) => {
    const cut = line.bytes.indexOf('"text":"') + 8;
    const parts = [line.bytes.subarray(0, cut), Buffer.from(bytes), line.bytes.subarray(cut)];
    return of(holds, { bytes: Buffer.concat(parts), flawed: true });
  }, hasText);
}
function header(to: (line: Line, file: OddFile) => Line[]): Oddity {
  return (file) => {
    const [first] = file.lines;
    if (first === undefined || first.touched || typeof first.holds === "string") return;
    if (first.holds.type === "session") file.lines.splice(0, 1, ...to(first, file));
  };
}
function hasText({ message }: Fields): boolean {
  return JSON.stringify(message ?? null).includes('"text":"');
}
const isMessage = ({ type }: Fields): boolean => type === "message";
const isCompaction = ({ type }: Fields): boolean => type === "compaction";
const hasParent = ({ parentId }: Fields): boolean => parentId !== null;

function without(fields: Fields, ...names: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)));
}
const nested = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`);

export const ODDITIES: Readonly<Record<string, Oddity>> = {
  "a torn tail": (file, at) => {
    const last = file.lines.at(-1);
    if (last === undefined || !file.ended || last.touched) return;
    file.lines.splice(-1, 1, damage(last.bytes.subarray(0, 1 + (at % (last.bytes.length - 1)))));
    file.ended = false;
  },
  "a last line without its end": (file) => {
    const last = file.lines.at(-1);
    if (last !== undefined && !last.touched) file.ended = false;
  },
  "NULs at the end": (file, at) => {
    if (!file.ended) return;
    file.lines.push(damage(Buffer.alloc(1 + (at % 9000))));
    file.ended = false;
  },
  "a line of NULs": insert((at) => damage(Buffer.alloc(1 + (at % 9000)))),
  "NULs before an entry": text((line) => `\0\0\0${line}`, { flawed: true }),
  "NULs after an entry": text((line) => `${line}\0\0`, { flawed: true }),
  "NULs inside of an entry": change((line) => damage(line.bytes.toString().replace('"id"', '"\0id"'))),
  "a byte order mark at the beginning": header((line) => [
    { ...line, bytes: Buffer.from(`\uFEFF${line.bytes}`), flawed: true, touched: true },
  ]),
  "a byte order mark before an entry": text((line) => `\uFEFF${line}`, { flawed: true }),
  "a carriage return": text((line) => `${line}\r`, { noted: ["carriage return"] }),
  "a line separator inside of a text": said((content) => `${content}\u2028\u2029\u0085`),
  "half a character, escaped": said((content) => `\\ud83d${content}\\ude00`),
  "half a character, raw": raw([0xed, 0xa0, 0xbd]),
  "invalid UTF-8": raw([0xff, 0xc3, 0x28]),
  "a blank line": insert(() => blank("")),
  "a line of white space": insert(() => blank(" \t \r")),
  "a torn line": change((line, _, at) => damage(line.bytes.subarray(0, 1 + (at % (line.bytes.length - 1))))),
  "a torn line whose head is whole": change((line) => damage(line.bytes.subarray(0, line.bytes.length - 1))),
  "a torn line that runs into the next": (file, at) => {
    const free = file.lines.flatMap((line, index) => {
      const next = file.lines[index + 1];
      return index === 0 || line.touched || next === undefined || next.touched ? [] : [index];
    });
    const index = free[at % free.length];
    if (index === undefined) return;
    const [torn, next] = file.lines.splice(index, 2) as [Line, Line];
    const half = torn.bytes.subarray(0, 1 + (at % (torn.bytes.length - 1)));
    file.lines.splice(index, 0, damage(Buffer.concat([half, next.bytes])));
  },
  "a line that is no object": insert((at) => damage(["[1]", "5", '"x"', "null", "true", "hello"][at % 6] ?? "")),
  "an object without a type": insert((at) => damage(['{"id":"x"}', '{"type":7}', '{"type":""}', "{}"][at % 4] ?? "")),
  "an unknown type": change((_, was) => [
    of(was),
    of(make("future", `${String(was.id)}-x`, String(was.id), { to: 1 }) as unknown as Fields, {
      noted: ["unknown type"],
    }),
  ]),
  "unknown fields": withFields((was) => ({ ...was, future: { deep: [1, null] }, g2: "x" })),
  "fields in another order": withFields((was) => Object.fromEntries(Object.entries(was).reverse())),
  "white space around and inside": text(
    (line) => `  ${JSON.stringify(JSON.parse(line), null, 1).replaceAll("\n", " ")} `,
  ),
  "an entry nested deeply": withFields((was) => ({ ...was, deep: nested(2000) })),
  "a key that JavaScript knows": text((line) => line.replace("{", '{"__proto__":{"type":"x"},')),
  "the header missing": header(() => []),
  "the header torn": header((line) => [damage(line.bytes.subarray(0, line.bytes.length / 2))]),
  "the header without an id": header((line) => [of(without(line.holds as Fields, "id"))]),
  "a header of a later version": header((line) => [of({ ...(line.holds as Fields), version: 9 })]),
  "the header late": header((line, { lines }) => {
    lines.splice(3, 0, { ...line, touched: true });
    return [];
  }),
  "the header twice": insert(() => of({ ...HEADER })),
  "another header": insert(() => of({ ...HEADER, id: "s-2" })),
  "an entry twice": change((_, was) => [of(was), of(was)]),
  "an entry twice, with another time and number": change((_, was) => [
    of(was),
    of({ ...was, timestamp: "2026-02-02T00:00:00.000Z", g: 3 }),
  ]),
  "an id for two entries": change((_, was) => [of(was), of({ ...was, parentId: was.id, note: "another" })]),
  "an old id again, much later": ({ lines, ended }, at) => {
    if (ended) lines.push(of(user("u1", "u1", `again ${at}`) as unknown as Fields));
  },
  "the kept entry's id again, after the compaction": ({ lines, ended }, at) => {
    if (ended) lines.push(of(user("u2", "a5", `again ${at}`) as unknown as Fields));
  },
  "a parent that is missing": withFields((was) => ({ ...was, parentId: "nowhere" }), hasParent),
  "a parent that comes later": withFields((was) => ({ ...was, parentId: was.id === "a5" ? "a6" : "a5" }), hasParent),
  "an entry that is its own parent": withFields((was) => ({ ...was, parentId: was.id })),
  "a parent that is a number": withFields((was) => ({ ...was, parentId: 7 })),
  "no parent": withFields((was) => without(was, "parentId")),
  "no id": change((_, was) => of(without(was, "id"), { flawed: true })),
  "an id that is a number": change((_, was) => of({ ...was, id: 7 }, { flawed: true })),
  "neither id nor parent": change((_, was) => of(without(was, "id", "parentId"), { flawed: true })),
  "a kept entry that is missing": withFields((was) => ({ ...was, firstKeptEntryId: "nowhere" }), isCompaction),
  "a kept entry that comes later": withFields((was) => ({ ...was, firstKeptEntryId: "a5" }), isCompaction),
  "a kept entry of another branch": withFields((was) => ({ ...was, firstKeptEntryId: "v1" }), isCompaction),
  "a compaction that keeps nothing": withFields((was) => ({ ...was, firstKeptEntryId: was.id }), isCompaction),
  "a message without a role": change(
    (_, was) => of({ ...was, message: { content: "x" } }, { flawed: true }),
    isMessage,
  ),
  "a message that is none": change((_, was) => of({ ...was, message: null }, { flawed: true }), isMessage),
  "a time that is none": withFields((was) => ({ ...was, timestamp: "soon" })),
};
