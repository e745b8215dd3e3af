/** A point that the campaign names can be played again from its name alone. */
import { expect, test } from "vitest";
import { enumerateTurns } from "../../src/turns/enumerate-turns.ts";
import { MUTANTS } from "../../src/turns/mutants.ts";
import { describeStage, replay } from "../../src/turns/replay.ts";
import { STORIES } from "../../src/turns/stories.ts";

const storyOf = (name: string) => STORIES.find((story) => story.name === name)!;

test("what broke there breaks again, and all that can be seen is shown", async () => {
  const { story, mutate } = MUTANTS.find(({ rule }) => rule === "what still runs is waited for")!;
  const wrong = { ...storyOf(story), mutate };
  const { violations } = await enumerateTurns(wrong, { refusals: false, freezes: false, first: true });
  const { stages, broken } = await replay(wrong, violations[0]!.point);
  expect(broken).toEqual(violations[0]!.what);
  expect(stages.at(-1)!.title).toBe("the end");
  expect(describeStage(stages.at(-1)!)).toMatch(/^== the end\neffects: .+\ntold: sim:a:c:1/u);
});

test.each([
  ["operation 40 (any) frozen", 2],
  ["operation 40 (any) killed before; recovery: operation 30 (any) killed before, then the clock is set back", 3],
])("%s", async (point, count) => {
  const { stages, broken } = await replay(storyOf("no tool"), point);
  expect([stages.length, broken]).toEqual([count, []]);
});

test("a name that no point has is refused", async () => {
  const story = storyOf("no tool");
  await expect(replay(story, "operation 1 (stat x) burnt")).rejects.toThrow("no such fault: burnt");
  await expect(replay(story, "nothing")).rejects.toThrow("no such point");
});
