/** The numbers in the log itself: the last ones, however far back, whatever stands in between. */
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { numbersInLog } from "../../../src/stores/file/numbers.ts";
import { testDirectory } from "../../support/directories.ts";

const turn = (t: number, g: number) =>
  JSON.stringify({ type: "custom", customType: "holdfast:turn", data: { t }, id: `t${t}`, g });
const foreign = JSON.stringify({
  type: "message",
  id: "f",
  message: { role: "user", content: 'says "g":99 "holdfast:turn"' },
});
const long = JSON.stringify({ type: "message", id: "l", message: { role: "user", content: "x".repeat(700_000) } });

async function numbers(text: string, how: "all" | "tail"): Promise<unknown> {
  await using directory = await testDirectory();
  const path = join(directory.path, "log");
  await writeFile(path, text);
  await using handle = await open(path);
  return await numbersInLog(handle, how);
}

test.each([
  ["an empty log has none", "", { g: 0, t: 0 }],
  ["the last of each counts", `${turn(1, 3)}\n${turn(2, 5)}\n{"g":6}\n`, { g: 6, t: 2 }],
  ["text that looks like one is none", `${turn(1, 3)}\n${foreign}\n`, { g: 3, t: 1 }],
  ["a torn tail is none", `${turn(1, 3)}\n${turn(9, 9).slice(0, -3)}`, { g: 3, t: 1 }],
  ["far back, behind a long line", `${turn(1, 3)}\n${long}\n${foreign}\n`, { g: 3, t: 1 }],
  ["one near, the other far back", `${turn(4, 3)}\n${long}\n{"g":8}\n`, { g: 8, t: 4 }],
])("%s", async (_name, text, expected) => {
  expect(await numbers(text, "all")).toEqual(expected);
});

test("only the tail is looked at where the rest is known", async () => {
  expect(await numbers(`${turn(1, 3)}\n${long}\n`, "tail")).toEqual({ g: 0, t: 0 });
  expect(await numbers(`${long}\n${turn(1, 3)}\n`, "tail")).toEqual({ g: 3, t: 1 });
});
