/** Open calls: named results, foreign results on their own path, and ids that providers use again. */
import { expect, test } from "vitest";
import { CallLedger } from "../src/calls.ts";
import type { Entry } from "../src/entry.ts";
import { treeOf } from "../src/tree.ts";
import { answer, call, result, user } from "./support/make.ts";

function open(entries: readonly Entry[]): string[] {
  const tree = treeOf(entries, () => false);
  const ledger = new CallLedger();
  entries.forEach((entry, index) => {
    ledger.take(entry, index, tree);
  });
  return ledger.open().map((one) => `${one.entryId}/${one.ordinal}`);
}

test.each<[string, readonly Entry[], readonly string[]]>([
  ["none", [user("u", null, "x"), answer("a", "u", "y")], []],
  ["all answered", [call("c", null, ["s", "t"]), result("r", "c", "t"), result("q", "r", "s")], []],
  ["one of two", [call("c", null, ["s", "t"]), result("r", "c", "s")], ["c/1"]],
  [
    "a used id again: the nearest earlier",
    [call("c", null, ["t"]), call("d", "c", ["t"]), result("r", "d", "t")],
    ["c/0"],
  ],
  ["on its own path only", [call("c", null, ["t"]), call("d", null, ["t"]), result("r", "c", "t")], ["d/0"]],
  [
    "a foreign result on no path of the call",
    [call("c", null, ["t"]), user("u", null, "x"), result("r", "u", "t")],
    ["c/0"],
  ],
  [
    "a named result, wherever it hangs",
    [call("c", null, ["t"]), user("u", null, "x"), result("r", "u", "t", { call: { entryId: "c", ordinal: 0 } })],
    [],
  ],
  [
    "a named result of another call",
    [call("c", null, ["t"]), result("r", "c", "t", { call: { entryId: "x", ordinal: 0 } })],
    ["c/0"],
  ],
  ["in file order", [call("c", null, ["x", "a"]), call("d", "c", ["a"])], ["c/0", "c/1", "d/0"]],
])("%s", (_, entries, expected) => expect(open(entries)).toEqual(expected));
