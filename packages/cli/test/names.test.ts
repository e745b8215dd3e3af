/** What a person may call a conversation, against what there is. */
import { describe, expect, test } from "vitest";
import { CliError } from "../src/errors.ts";
import { keyToWrite, type Named, resolveName } from "../src/names.ts";

const ROWS: readonly Named[] = [
  ["agent:main:main", "0197a000-0000-7000-8000-000000000001"],
  ["agent:main:telegram:direct:555_1", "0197b000-0000-7000-8000-000000000002"],
  ["agent:main:telegram:group:777", "0197b000-0000-7000-8000-000000000003"],
  ["agent:work:main", "0198c000-0000-7000-8000-000000000004"],
  ["agent:work:feishu:acc1:direct:ou_9", "0198d000-0000-7000-8000-000000000005"],
].map(([key, sessionId]) => ({ key: key!, sessionId: sessionId!, agentId: key!.split(":")[1]! }));

const found: readonly (readonly [name: string, key: string])[] = [
  ["agent:main:main", "agent:main:main"],
  ["0198d000-0000-7000-8000-000000000005", "agent:work:feishu:acc1:direct:ou_9"],
  ["main", "agent:main:main"],
  ["telegram:group:777", "agent:main:telegram:group:777"],
  ["feishu:acc1:direct:ou_9", "agent:work:feishu:acc1:direct:ou_9"],
  ["telegram_555_1", "agent:main:telegram:direct:555_1"],
  ["feishu_ou_9", "agent:work:feishu:acc1:direct:ou_9"],
  ["web_dashboard", "agent:main:main"],
  ["0197a", "agent:main:main"],
  ["telegram:d", "agent:main:telegram:direct:555_1"],
];

const refused: readonly (readonly [name: string, code: string])[] = [
  ["", "bad_name"],
  ["   ", "bad_name"],
  ["../../etc/passwd", "bad_name"],
  ["..", "bad_name"],
  ["a/../b", "bad_name"],
  ["..\\x", "bad_name"],
  ["a\u0000b", "bad_name"],
  ["x".repeat(513), "bad_name"],
  ["nobody", "name_unknown"],
  ["telegram_nobody", "name_unknown"],
  ["0197b", "name_ambiguous"],
  ["agent:", "name_ambiguous"],
];

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof CliError) return error.code;
    throw error;
  }
  return "nothing was thrown";
}

describe("resolveName", () => {
  test.each(found)("%s is %s", (name, key) => expect(resolveName(name, ROWS, "main").key).toBe(key));
  test.each(refused)("%j is refused as %s", (name, code) => {
    expect(codeOf(() => resolveName(name, ROWS, "main"))).toBe(code);
  });
  test("the default agent decides what a short name means", () => {
    expect(resolveName("main", ROWS, "work").key).toBe("agent:work:main");
  });
  test("an ambiguous name is answered with what it could mean", () => {
    expect(() => resolveName("0197b", ROWS, "main")).toThrow(/telegram:direct:555_1, agent:main:telegram:group:777/);
  });
});

describe("keyToWrite", () => {
  test("a whole key may be new", () =>
    expect(keyToWrite("agent:main:x:direct:1", ROWS, "main")).toBe("agent:main:x:direct:1"));
  test("main may be new", () => expect(keyToWrite("main", [], "work")).toBe("agent:work:main"));
  test("anything shorter must exist", () => {
    expect(keyToWrite("telegram:group:777", ROWS, "main")).toBe("agent:main:telegram:group:777");
    expect(codeOf(() => keyToWrite("telegram:group:778", ROWS, "main"))).toBe("name_unknown");
    expect(() => keyToWrite("work", ROWS, "main")).toThrow(/begin a new one, .*agent:main:work\.$/);
    expect(codeOf(() => keyToWrite("agent:main:../x", ROWS, "main"))).toBe("bad_name");
  });
});
