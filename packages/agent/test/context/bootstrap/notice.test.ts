/** What the owner is told about files that do not fit. */
import { expect, test } from "vitest";
import { noticeOfCuts } from "../../../src/context/bootstrap/notice.ts";
import type { Work } from "../../../src/work.ts";
import { laneOf } from "../../support/agent.ts";

const LIMITS = { maxChars: 1_000, totalMaxChars: 5_000 };
const bootstrap = (cuts: Readonly<Record<string, string | null>>, isSqueezed = false) => ({
  sections: [],
  hash: "h",
  isSqueezed,
  files: Object.entries(cuts).map(([name, cut]) => ({ name, bytes: 1, sha256: "", chars: 1, cut })),
});

function teller() {
  const told: { readonly key: string; readonly text: string }[] = [];
  const work = (text = "hello") => {
    const agent = { id: "main", tell: async (_item: unknown, what: (typeof told)[number]) => told.push(what) > 0 };
    return { agent, item: laneOf(text).item } as unknown as Work;
  };
  return { told, work };
}

test("nothing where everything is there whole", async () => {
  const { told, work } = teller();
  expect(await noticeOfCuts(work(), bootstrap({ "AGENTS.md": null }), LIMITS)).toEqual([]);
  expect(told).toEqual([]);
});

test("which files, why, and what would help, in the language of the message", async () => {
  const { told, work } = teller();
  const cuts = { "AGENTS.md": "9 of 99 characters left out", "SOUL.md": null, "MEMORY.md": "no room" };
  const [entry] = await noticeOfCuts(work(), bootstrap(cuts), LIMITS);
  expect(entry).toMatchObject({ type: "custom_message", display: true, content: told[0]!.text });
  expect(told[0]!.text).toMatch(/\n- AGENTS\.md: 9 of 99 .*\n- MEMORY\.md: no room\n.*\(now 1000\).*\(now 5000\)/s);
  await noticeOfCuts(work("你好"), bootstrap(cuts, true), LIMITS);
  expect(told[1]!.text).toMatch(/^工作区.*窗口更大的模型。$/s);
});

test("the key is that of the files and limits, whatever their size", async () => {
  const { told, work } = teller();
  for (const [cuts, limits] of [
    [{ "AGENTS.md": "9 of 99" }, LIMITS],
    [{ "AGENTS.md": "10 of 100" }, LIMITS],
    [{ "SOUL.md": "9 of 99" }, LIMITS],
    [{ "AGENTS.md": "9 of 99" }, { ...LIMITS, maxChars: 2_000 }],
  ] as const)
    await noticeOfCuts(work(), bootstrap(cuts), limits);
  const [first, again, other, limits] = told.map(({ key }) => key);
  expect(again).toBe(first);
  expect(new Set([first, other, limits]).size).toBe(3);
});
