/** A seed decides everything, and different seeds tell different stories. */
import { expect, test } from "vitest";
import { chanceOf } from "../../src/demo/chance.ts";
import { MOMENTS, sceneOf } from "../../src/demo/scene.ts";

const SEEDS = Array.from({ length: 200 }, (_, seed) => seed);

test("the same seed gives the same scene", () => {
  for (const seed of SEEDS) expect(sceneOf(seed, "en")).toEqual(sceneOf(seed, "en"));
});

test("seed 1 is the story of the README", () => {
  const scene = sceneOf(1, "zh");
  expect(scene).toMatchObject({
    notesPath: "notes/meeting.md",
    todoPath: "notes/todo.md",
    asked: 1,
    moment: MOMENTS.afterEffect,
  });
  expect(scene.sayAfter).toBe("刚才第二项待办，能不能再拆细一点？");
});

test.each(["en", "zh"] as const)("every scene in %s is sound", (language) => {
  for (const seed of SEEDS) {
    const scene = sceneOf(seed, language);
    expect(new Set(scene.items).size).toBe(scene.items.length);
    expect(scene.items.length).toBeGreaterThanOrEqual(3);
    expect(scene.items[scene.asked]).toBeDefined();
    expect(scene.notesPath).not.toBe(scene.todoPath);
    for (const item of scene.items) expect(scene.notes).toContain(item);
  }
});

test("notes, items, question, path and moment all vary", () => {
  const seen = (of: (seed: number) => unknown): number => new Set(SEEDS.map((seed) => JSON.stringify(of(seed)))).size;
  expect(seen((seed) => sceneOf(seed, "en").items)).toBeGreaterThan(150);
  expect(seen((seed) => sceneOf(seed, "en").todoPath)).toBeGreaterThanOrEqual(6);
  expect(seen((seed) => sceneOf(seed, "en").asked)).toBe(4);
  expect(seen((seed) => sceneOf(seed, "en").moment.name)).toBe(Object.keys(MOMENTS).length);
});

test("chance is even enough to choose with", () => {
  const chance = chanceOf(7);
  const counts = [0, 0, 0, 0];
  for (let draw = 0; draw < 4000; draw++) counts[Math.floor(chance.next() * 4)]! += 1;
  for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
  expect(chance.some([1, 2, 3], 9).toSorted()).toEqual([1, 2, 3]);
});
