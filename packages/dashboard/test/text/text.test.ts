import { describe, expect, test } from "vitest";
import { en } from "../../src/text/en.ts";
import { chooseLanguage, chosenLanguage, languageOf } from "../../src/text/language.ts";
import { duration, exactTime, relativeTime } from "../../src/text/time.ts";
import { zh } from "../../src/text/zh.ts";
import { PlayedOutside } from "../support/outside.ts";

/** Every wording of a table, functions called with something; by path. */
function wordings(table: object, path = ""): readonly (readonly [string, string])[] {
  return Object.entries(table).flatMap(([name, value]) => {
    const here = `${path}${name}`;
    if (typeof value === "function") return [[here, String(value(2, 2))] as const];
    return typeof value === "string" ? [[here, value] as const] : wordings(value, `${here}.`);
  });
}

describe("wording", () => {
  test("every line exists in both languages, and the Chinese one is Chinese", () => {
    const chinese = new Map(wordings(zh));
    const same = wordings(en).filter(([path, words]) => chinese.get(path) === words);
    expect(same).toEqual([]);
    const latin = [...chinese].filter(([path, words]) => path !== "locale" && !/\p{Script=Han}/u.test(words));
    expect(latin).toEqual([]);
    expect([...chinese.keys()].sort()).toEqual(
      wordings(en)
        .map(([path]) => path)
        .sort(),
    );
  });

  test("the examples are the literal ones", () => {
    expect(en.empty.first).toBe("Read the meeting notes, pull out the to-dos and save them");
    expect(zh.empty.second).toBe("刚才第二项待办，能不能再拆细一点？");
  });
});

describe("language", () => {
  test.each([
    [["zh-CN", "en"], "zh"],
    [["fr", "zh-TW"], "zh"],
    [["de", "en-GB"], "en"],
    [["fr"], "en"],
    [[], "en"],
  ] as const)("%j speaks %s", (preferred, language) => {
    expect(chosenLanguage(new PlayedOutside().keep, preferred)).toBe(language);
  });

  test("a choice is remembered against the browser's wish", () => {
    const { keep } = new PlayedOutside();
    chooseLanguage(keep, "zh");
    expect(chosenLanguage(keep, ["en"])).toBe("zh");
  });

  test("of a text: by its script", () => {
    expect(languageOf("把 notes/todo.md 里的第二项拆细")).toBe("zh");
    expect(languageOf("Saved 待办 to the notes file, as you asked me to")).toBe("en");
    expect(languageOf("")).toBe("en");
  });
});

describe("times", () => {
  const now = Date.UTC(2026, 5, 21, 13);
  test.each([
    [0, "now"],
    [-5_000, "now"],
    [59_999, "now"],
    [60_000, "1 minute ago"],
    [59 * 60_000, "59 minutes ago"],
    [3_600_000, "1 hour ago"],
    [86_400_000, "yesterday"],
    [6.9 * 86_400_000, "6 days ago"],
    [8 * 86_400_000, "Jun 13, 2026"],
  ])("%d ms ago is %s", (ago, words) => {
    expect(relativeTime(now - ago, now, "en")).toBe(words);
  });

  test("in Chinese, exact, and durations", () => {
    expect(relativeTime(now - 300_000, now, "zh-CN")).toBe("5分钟前");
    expect(exactTime(now, "en")).toMatch(/2026/);
    expect([41, 2400, 186_000].map((ms) => duration(ms, "en"))).toEqual(["41 ms", "2.4 sec", "3.1 min"]);
  });
});
