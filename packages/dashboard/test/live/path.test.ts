import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { addEntries, type Entry } from "../../src/live/path.ts";
import { Chain } from "../support/entries.ts";

const ids = (entries: readonly Entry[] | undefined): readonly string[] => (entries ?? []).map((entry) => entry.id);
const entry = (id: string, parentId: string | null): Entry => ({
  type: "custom",
  customType: "x",
  id,
  parentId,
  timestamp: "",
});

describe("addEntries", () => {
  test("goes on at the end", () => {
    const chain = new Chain();
    const path = [chain.user("a"), chain.answer("b")];
    const added = [chain.user("c"), chain.answer("d")];
    expect(ids(addEntries(path, [], added, "e4")?.entries)).toEqual(["e1", "e2", "e3", "e4"]);
  });

  test("leaves the path where a branch begins, and can come back", () => {
    const path = [entry("a", null), entry("b", "a"), entry("c", "b")];
    const left = addEntries(path, [], [entry("x", "a")], "x");
    expect(ids(left?.entries)).toEqual(["a", "x"]);
    expect(ids(left?.aside)).toEqual(["b", "c"]);
    const back = addEntries(left?.entries ?? [], left?.aside ?? [], [entry("leaf", "c")], "leaf");
    expect(ids(back?.entries)).toEqual(["a", "b", "c", "leaf"]);
  });

  test("an entry off the path does not move the leaf", () => {
    const path = [entry("a", null), entry("b", "a")];
    const after = addEntries(path, [], [entry("late", "a"), entry("leaf", "b")], "leaf");
    expect(ids(after?.entries)).toEqual(["a", "b", "leaf"]);
    expect(ids(after?.aside)).toEqual(["late"]);
  });

  test("an unknown ancestor is not guessed", () => {
    expect(addEntries([entry("a", null)], [], [entry("c", "b")], "c")).toBeNull();
    expect(addEntries([entry("a", null)], [], [], "elsewhere")).toBeNull();
  });

  test("a circle ends", () => {
    expect(addEntries([entry("a", null)], [], [entry("p", "q"), entry("q", "p")], "p")).toBeNull();
  });

  test("a second copy replaces the first in its place", () => {
    const path = [entry("a", null), entry("b", "a")];
    const copy = { ...entry("b", "a"), g: 3 };
    expect(addEntries(path, [], [copy], "b")?.entries[1]).toBe(copy);
  });

  test("another root is a new path with nothing before it", () => {
    const after = addEntries([entry("a", null)], [], [entry("r", null)], "r");
    expect(ids(after?.entries)).toEqual(["r"]);
    expect(after?.rerooted).toBe(true);
  });

  test("any tree, taken in by pieces: always the path that the parents give", () => {
    const tree = fc.array(fc.nat(), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(tree, fc.integer({ min: 1, max: 4 }), (choices, step) => {
        const entries = choices.map((choice, index) => entry(`n${index}`, index === 0 ? null : `n${choice % index}`));
        let known = addEntries([], [], entries.slice(0, 1), null);
        for (let at = 1; at < entries.length; at += step) {
          const piece = entries.slice(at, at + step);
          known = addEntries(known?.entries ?? [], known?.aside ?? [], piece, piece.at(-1)?.id ?? null);
        }
        expect(ids(known?.entries)).toEqual(pathInFull(entries));
        expect(ids(known?.entries).length + ids(known?.aside).length).toBe(entries.length);
      }),
    );
  });
});

function pathInFull(entries: readonly Entry[]): readonly string[] {
  const byId = new Map(entries.map((each) => [each.id, each]));
  const path: string[] = [];
  for (let at = entries.at(-1); at !== undefined; at = byId.get(at.parentId ?? "")) path.unshift(at.id);
  return path;
}
