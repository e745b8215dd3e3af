/** The checker, shown every kind of broken promise once. */
import { describe, expect, test } from "vitest";
import { violationsIn } from "../../src/history/check.ts";
import type { DiskFacts, PlacedTranscript } from "../../src/history/disk-facts.ts";
import { History } from "../../src/history/history.ts";
import type { LineFact } from "../../src/history/transcript-facts.ts";

const KEY = "k";
const line = (id: string, parentId: string | null, g = 1): LineFact => ({ id, parentId, g, kind: "message" });
const FIRST: LineFact = { id: "root", parentId: null, g: 1, kind: "holdfast:session" };

function facts(
  entries: readonly LineFact[],
  change: Partial<DiskFacts> & { readonly damaged?: number } = {},
): DiskFacts {
  const { damaged = 0, ...rest } = change;
  return {
    rows: new Map([[KEY, { sessionId: "s", sessionFile: "s.jsonl", note: null, isFork: false }]]),
    transcripts: new Map([["s", [placed({ headerId: "s", entries, damaged })]]]),
    leftovers: [],
    bytesAt: () => undefined,
    ...rest,
  };
}

function placed(facts: PlacedTranscript["facts"], file = "s.jsonl"): PlacedTranscript {
  const isArchived = file.startsWith("archive/");
  const place = isArchived ? "archived" : "live";
  return { id: "s", file, place, reason: isArchived ? "archive" : null, bytes: Buffer.alloc(0), facts };
}

type Said = readonly [string, string | null];
function told(...said: readonly Said[]): History {
  const history = new History();
  for (const [id, parentId] of said) say(history, "A", id, parentId);
  return history;
}
function say(history: History, process: string, id: string, parentId: string | null): void {
  const answer = history.ask({ process, what: "append", key: KEY, ids: [id] });
  answer({ done: { sessionId: "s", entries: [{ id, parentId }] } });
}

const CALM = { mayDamage: false, isSettled: true };
const broken = (history: History, on: DiskFacts) => violationsIn(history, on, CALM).join("; ");
const talk = told(["a", "root"], ["b", "a"]);
const asTold = [FIRST, line("a", "root"), line("b", "a")];

test("what was told and is there is no violation; nor is what nobody heard of", () => {
  expect(broken(talk, facts(asTold))).toBe("");
  const history = talk.clone();
  history.ask({ process: "A", what: "append", key: KEY, ids: ["c"] });
  expect(broken(history, facts(asTold))).toBe("");
  expect(broken(history, facts([...asTold, line("c", "b")]))).toBe("");
});

test.each<[string, DiskFacts, string]>([
  ["an entry is missing", facts([FIRST, line("a", "root")]), "b was acknowledged and is not there"],
  ["an entry is there twice", facts([...asTold, line("b", "a")]), "b is there 2 times"],
  ["an entry hangs elsewhere", facts([FIRST, line("a", "root"), line("b", "root")]), "b hangs on root, told was a"],
  ["the leaf is on another branch", facts([...asTold, line("x", "a")]), "the leaf is not below b"],
  ["the row is gone", facts(asTold, { rows: new Map() }), "its row says nothing gone"],
  ["the transcript is gone", facts(asTold, { transcripts: new Map() }), "is not there"],
  ["a transcript is half made", facts([line("a", "root"), line("b", "a")]), "does not begin with the entry"],
  ["a line is damaged by nothing", facts(asTold, { damaged: 1 }), "1 damaged lines"],
  ["something is left behind", facts(asTold, { leftovers: ["x.new"] }), "x.new was left behind"],
  ["generations fall", facts([FIRST, line("a", "root", 3), line("b", "a", 2)]), "generation 2 after 3"],
])("%s", (_name, on, sentence) => {
  expect(broken(talk, on)).toContain(sentence);
});

test("two writers under one generation", () => {
  const history = told(["a", "root"]);
  say(history, "B", "b", "a");
  expect(broken(history, facts(asTold))).toContain("generation 1 was written by A and B");
});

test("a row keeps the last value that was told, or one that may have come through", () => {
  const history = talk.clone();
  history.ask({ process: "A", what: "update", key: KEY, ids: [], value: "one" })({
    done: { sessionId: "s", entries: [] },
  });
  history.ask({ process: "A", what: "update", key: KEY, ids: [], value: "two" });
  const noted = (note: string | null) =>
    facts(asTold, { rows: new Map([[KEY, { sessionId: "s", sessionFile: "s.jsonl", note, isFork: false }]]) });
  expect(["one", "two"].map((note) => broken(history, noted(note)))).toEqual(["", ""]);
  expect(broken(history, noted(null))).toContain("its row says null, clients were told one");
});

test("a branch that was asked for and not answered may be where the leaf is", () => {
  const history = talk.clone();
  const moved = facts([...asTold, line("m", "a")]);
  expect(broken(history, moved)).toContain("the leaf");
  history.ask({ process: "A", what: "branch", key: KEY, ids: ["a"] });
  expect(broken(history, moved)).toBe("");
});

describe("whole conversations", () => {
  const whole = { headerId: "s", entries: asTold, damaged: 0 };
  const ENDED = "archive/s.clear.20260101T000000000Z.jsonl";
  const AWAY = "archive/s.archive.20260101T000000000Z.jsonl";
  const rowAt = (sessionFile: string, sessionId = "s") =>
    new Map([[KEY, { sessionId, sessionFile, note: null, isFork: false }]]);
  const on = (files: readonly string[], rows: DiskFacts["rows"]): DiskFacts =>
    facts(asTold, { rows, transcripts: new Map([["s", files.map((file) => placed(whole, file))]]) });
  const after = (what: "archive" | "clear", change: object): History => {
    const history = talk.clone();
    history.ask({ process: "A", what, key: KEY, ids: [] })({ done: { sessionId: "s", entries: [], ...change } });
    return history;
  };
  const recovered = (history: History, disk: DiskFacts) =>
    violationsIn(history, disk, { ...CALM, isRecovered: true, isTidied: true }).join("; ");
  const away = after("archive", { place: "archived" });
  const ended = after("clear", { place: "gone", ended: "s" });

  test("what was told and is so is no violation", () => {
    expect(recovered(away, on([AWAY], rowAt(AWAY)))).toBe("");
    expect(recovered(ended, on([ENDED], new Map()))).toBe("");
  });

  test.each<[string, History, DiskFacts, string]>([
    ["archived, and live again by itself", away, on(["s.jsonl"], rowAt("s.jsonl")), "its row says s live"],
    ["archived, and nowhere", away, on([], rowAt(AWAY)), "the transcript of s is not there"],
    ["a row that points elsewhere", away, on(["s.jsonl"], rowAt(AWAY)), `its row says ${AWAY}, it is s.jsonl`],
    ["under two names", away, on([AWAY, "s.jsonl"], rowAt(AWAY)), "s is there as"],
    ["ended, and there again", ended, on(["s.jsonl"], rowAt("s.jsonl")), "its row says s live"],
    ["ended, and not put away", ended, on(["s.jsonl"], new Map()), "s was ended and is not put away"],
    ["a new conversation that nobody asked for", talk, on(["s.jsonl"], rowAt("t.jsonl", "t")), "its row says t live"],
  ])("%s", (_name, history, disk, sentence) => {
    expect(recovered(history, disk)).toContain(sentence);
  });

  test("a copy lacks an entry, or has it elsewhere", () => {
    const history = new History();
    const done = { sessionId: "s", entries: [], place: "live" } as const;
    history.ask({ process: "A", what: "fork", key: KEY, ids: ["a", "b"] })({ done });
    expect(broken(history, facts(asTold))).toBe("");
    expect(broken(history, facts([FIRST, line("b", "root")]))).toContain("a was to be copied and is there 0 times");
    const beside = [FIRST, line("a", "root"), line("b", "root")];
    expect(broken(history, facts(beside))).toContain("of a,b b are on one path");
  });

  test("bytes that must not change", () => {
    const originals = new Map([["/other/file", Buffer.from("was")]]);
    const now = (text: string) => ({ ...facts(asTold), bytesAt: () => Buffer.from(text) });
    const found = (text: string) => violationsIn(talk, now(text), { ...CALM, originals });
    expect([found("was"), found("is")]).toEqual([[], ["/other/file is not what it was"]]);
  });

  test("a repair that is not sound, or made twice", () => {
    const history = new History();
    history.ask({ process: "A", what: "repair", key: "/odd.jsonl", ids: ["a"] });
    const made = (files: Readonly<Record<string, string>>) =>
      violationsIn(history, { ...facts(asTold), bytesAt: (path) => file(files[path]) }, CALM).join("; ");
    const file = (text: string | undefined) => (text === undefined ? undefined : Buffer.from(text));
    const sound = '{"type":"session","id":"s"}\n{"type":"message","id":"a","parentId":null,"g":1}\n';
    expect(made({ "/odd.repaired.jsonl": sound, "/odd.repaired.damaged": "x" })).toBe("");
    expect(made({ "/odd.repaired.jsonl": sound })).toContain("without what could not be used");
    expect(made({ "/odd.repaired.jsonl": "", "/odd.repaired.damaged": "x" })).toContain("not what a repair makes");
    expect(made({ "/odd.repaired-2.jsonl": sound })).toContain("made twice");
  });
});
