/** The rehearsal model as a newcomer meets it: whole conversations, in both languages, with results fed by hand. */
import { realWorld } from "@holdfast/base";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openModel } from "../../src/model/open.ts";
import { rehearsalModel } from "../../src/model/rehearsal.ts";
import { ENGLISH } from "../../src/model/rehearsal/words-en.ts";
import { CHINESE } from "../../src/model/rehearsal/words-zh.ts";
import { understand } from "../../src/model/rehearsal/intents.ts";
import { collect, request, SPECS, user } from "../support/requests.ts";
import { Story } from "../support/story.ts";

const world = { ...realWorld(() => {}), sleep: async () => {} };
const model = rehearsalModel(world);
const DENIED = { text: "EACCES: permission denied, open 'notes/todo.md'", isError: true };

const LANGUAGES = [
  {
    language: "English",
    honest: /rehearsal[\s\S]*no language model/,
    words: ENGLISH,
    items: [
      "Send the budget draft to Mei by Friday",
      "Book a room for the launch review",
      "Ask the supplier for a new delivery date",
    ],
    save: "read the notes, extract the to-dos and save them",
    hello: "hello",
    again: "try again",
    goOn: "continue",
    split: "the second one, split it finer",
    nothing: "Nothing was saved",
    permission: "permission",
    saved: "Saved to `notes/todo.md`",
    happened: "not done again",
    heading: "# To-do",
    other: "xyzzy",
    weather: "check the weather",
    remember: "remember that the office closes at six",
    recall: "what do you remember about the office?",
    unrelated: "- Jonas likes tea",
    fact: "the office closes at six",
    second: /^\d\. .*(?:how many people|two offers|the better one)/gm,
  },
  {
    language: "Chinese",
    honest: /排练[\s\S]*(没有|不是)语言模型/,
    words: CHINESE,
    items: ["周五前把预算草案发给小美", "预订发布评审的会议室", "联系供应商，问清新的交货日期"],
    save: "读会议记录，提取待办并保存",
    hello: "你好",
    again: "现在可以了，再试一次",
    goOn: "继续",
    split: "刚才第二项待办，能不能再拆细一点？",
    nothing: "什么都没有保存",
    permission: "权限",
    saved: "已保存到 `notes/todo.md`",
    happened: "没有重复执行",
    heading: "# 待办",
    other: "今晚吃什么",
    weather: "帮我查下天气",
    remember: "记住：办公室六点关门",
    recall: "你还记得办公室几点关门吗？",
    unrelated: "- 小周喜欢绿茶",
    fact: "办公室六点关门",
    second: /^\d\. .*(?:人数|问两家|定下)/gm,
  },
] as const;

describe.each(LANGUAGES)("in $language", (l) => {
  const notes = { "notes/meeting.md": l.words.sample };
  const steps = (text: string): number => text.match(/^\d\. /gm)?.length ?? 0;

  test("the whole story: refused, granted, saved, split", async () => {
    const story = new Story(model, notes);
    story.answer = (call) => (call.name === "write" ? DENIED : undefined);
    const refused = await story.say(l.save);
    expect(refused).toContain(l.nothing);
    expect(refused).toContain("EACCES");
    expect(refused).toContain(l.permission);
    expect(refused).not.toContain(l.saved);
    expect(story.files.has("notes/todo.md")).toBe(false);

    story.answer = () => undefined;
    const saved = await story.say(l.again);
    expect(saved).toContain(l.saved);
    expect(story.files.get("notes/todo.md")).toBe(
      `${l.heading}\n\n${l.items.map((item, index) => `${index + 1}. [ ] ${item}\n`).join("")}`,
    );

    const calls = story.calls.length;
    const split = await story.say(l.split);
    expect(split).toContain(l.items[1]);
    expect(steps(split)).toBe(3);
    expect(split.match(l.second)).toHaveLength(3);
    expect(split.split(l.items[1])).toHaveLength(2);
    expect(story.calls).toHaveLength(calls);
  });

  test("killed after the write, then asked for more: the settled write comes first and is not repeated", async () => {
    const story = new Story(model, notes);
    const write = await story.interrupted(l.save);
    story.settle(write, { text: "recovered", isError: false, verdict: "happened" });
    const answer = await story.say(l.split);
    expect(answer.indexOf(l.happened)).toBeGreaterThan(0);
    expect(answer.indexOf(l.happened)).toBeLessThan(answer.indexOf("\n1. "));
    expect(answer).toContain("`write notes/todo.md`");
    expect(story.calls.filter((call) => call.name === "write")).toHaveLength(1);
    expect(await story.say(l.split)).not.toContain(l.happened);
  });

  test("the turn itself going on after a kill mentions the settled write and says what was saved", async () => {
    const story = new Story(model, notes);
    const write = await story.interrupted(l.save);
    story.settle(write, { text: "recovered", isError: false, verdict: "happened" });
    const answer = await story.goOn();
    expect(answer).toContain(l.happened);
    expect(answer).toContain(l.saved);
    for (const item of l.items) expect(answer).toContain(item);
  });

  test("continue reports what was settled, then finishes what was open without doing it twice", async () => {
    const story = new Story(model, notes);
    const write = await story.interrupted(l.save);
    story.settle(write, { text: "recovered", isError: false, verdict: "happened" });
    const answer = await story.say(l.goOn);
    expect(answer.indexOf(l.happened)).toBeLessThan(answer.indexOf(l.saved));
    expect(story.calls.filter((call) => call.name === "write")).toHaveLength(1);
    expect(await story.say(l.goOn)).toContain(l.words.nothingOpen);
  });

  test("continue after an interrupted read goes on to the write", async () => {
    const story = new Story(model, notes);
    story.messages.push(user(l.save));
    expect(await story.say(l.goOn)).toContain(l.saved);
    expect(story.calls.map((call) => call.name)).toEqual(["read", "write"]);
  });

  test.each(["unknown", "conflict"] as const)(
    "an outcome that is %s is neither claimed nor repeated",
    async (verdict) => {
      const story = new Story(model, notes);
      const write = await story.interrupted(l.save);
      story.settle(write, { text: "cannot tell", isError: true, verdict });
      const answer = await story.goOn();
      expect(answer).toContain(l.words.undecided("`write notes/todo.md`"));
      expect(answer).not.toContain(l.saved);
      expect(answer).not.toContain(l.nothing);
      expect(await story.say(l.goOn)).toContain(l.words.undecided("`write notes/todo.md`"));
      expect(story.calls).toHaveLength(2);
      expect(await story.say(l.again)).toContain(l.saved);
    },
  );

  test("it says what it is: first answer, greeting, help, fallback, and when asked", async () => {
    for (const said of [l.hello, l.save, l.other, l.weather, l.goOn, l.split]) {
      const answer = await new Story(model, notes).say(said);
      expect(answer, said).toMatch(l.honest);
    }
    for (const answer of [l.words.greeting, l.words.about, l.words.outside])
      for (const key of ["holdfast.json", "primary", "providers"]) expect(answer).toContain(key);
    const story = new Story(model, notes);
    await story.say(l.hello);
    expect(await story.say(l.save)).not.toContain(l.words.notice);
  });

  test("chosen by name it does not introduce itself", async () => {
    const chosen = openModel({ choice: "rehearsal/offline", providers: {}, apiKeyOf: () => null, world });
    expect(await new Story(chosen, notes).say(l.save)).not.toMatch(l.honest);
  });

  test("no example asks for what is refused by default", () => {
    for (const text of [l.words.greeting, l.words.help, l.words.fallback]) expect(text).not.toContain("ls -la");
  });

  test("examples it gives are messages it understands", () => {
    const texts = [
      l.words.greeting,
      l.words.help,
      l.words.fallback,
      l.words.sampleHint,
      l.words.retryHint,
      l.words.nothingOpen,
    ];
    const examples = texts.flatMap((text) => [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? ""));
    const said = examples.filter((example) => !/^(?:holdfast\.json|agents\.|models\.)/.test(example));
    expect(said.length).toBeGreaterThan(12);
    for (const example of said) expect(understand(example).kind, example).not.toBe("other");
  });

  test("the fallback offers three examples", async () => {
    expect((await new Story(model).say(l.other)).match(/^- `/gm)).toHaveLength(3);
  });

  test("the weather needs a tool and a network that are not there", async () => {
    const story = new Story(model);
    expect(await story.say(l.weather)).toContain("tools.modules");
    expect(story.calls).toEqual([]);
  });

  test("remembered facts go to MEMORY.md beside what was there, and come back", async () => {
    const story = new Story(model, { "MEMORY.md": `# MEMORY\n\n${l.unrelated}\n` });
    expect(await story.say(l.remember)).toContain(l.fact);
    expect(story.files.get("MEMORY.md")).toBe(`# MEMORY\n\n${l.unrelated}\n- ${l.fact}\n`);
    const recalled = await story.say(l.recall);
    expect(recalled).toContain(`- ${l.fact}`);
    expect(recalled).not.toContain(l.unrelated);
  });

  test("without a memory file it starts one; without facts it says so", async () => {
    const story = new Story(model);
    expect(await story.say(l.recall)).toContain(l.words.nothingRemembered);
    await story.say(l.remember);
    expect(story.files.get("MEMORY.md")).toBe(`# MEMORY\n\n- ${l.fact}\n`);
  });

  test("sample notes are written once and never over others", async () => {
    const example = understand(l.words.sampleHint.match(/`([^`]+)`/)?.[1] ?? "");
    expect(example).toEqual({ kind: "sample" });
    const said = l.words.sampleHint.match(/`([^`]+)`/)?.[1] ?? "";
    const story = new Story(model);
    expect(await story.say(l.save)).toContain(l.words.sampleHint);
    await story.say(said);
    expect(story.files.get("notes/meeting.md")).toBe(l.words.sample);
    story.files.set("notes/meeting.md", "mine");
    expect(await story.say(said)).toContain(l.words.sampleExists("notes/meeting.md"));
    expect(story.files.get("notes/meeting.md")).toBe("mine");
  });
});

test("the second literal form, after the list was only read", async () => {
  const story = new Story(model, { "notes/meeting.md": CHINESE.sample });
  await story.say("列出待办");
  expect(await story.say("刚才第二项，再拆细一点")).toContain("「预订发布评审的会议室」");
});

test("without a list in the conversation the split reads notes/todo.md", async () => {
  const story = new Story(model, { "notes/todo.md": "1. [ ] Buy paper\n2. [ ] Call Ada\n" });
  expect(await story.say("split #2")).toContain('"Call Ada"');
  expect(await story.say("split the fifth")).toContain("There is no to-do 5");
  expect(await story.say("split it")).toContain("Which one?");
  expect(await new Story(model).say("split #2")).toContain("no to-do list");
});

test("a list in the conversation is saved without reading again, to the path that was named", async () => {
  const story = new Story(model, { "docs/a.md": "TODO: one\nTODO: two" });
  await story.say("list the to-dos in docs/a.md");
  expect(await story.say("save them to docs/b.md")).toContain("docs/b.md");
  expect(story.calls.map((call) => call.name)).toEqual(["read", "write"]);
  expect(story.files.get("docs/b.md")).toContain("2. [ ] two");
});

test("a command's output is shown whole, also when it holds fences", async () => {
  const story = new Story(model);
  story.answer = () => ({ text: "```\nevil\n```", isError: false });
  expect(await story.say("run ls -la")).toContain("````\n```\nevil\n```\n````");
  expect(story.calls[0]).toMatchObject({ name: "exec", arguments: { command: "ls -la" } });
  story.answer = () => ({ text: "exit status 2", isError: true });
  expect(await story.say("运行 ls")).toContain("没有成功");
});

test("absent and not started, then run: said as done now, once", async () => {
  for (const verdict of ["absent", "not_started"] as const) {
    const story = new Story(model, { "notes/meeting.md": "TODO: one" });
    const write = await story.interrupted("save the to-dos");
    story.settle(write, { text: "written", isError: false, verdict });
    expect(await story.goOn()).toContain("done now, once");
  }
});

test("a memory that is too long to be rewritten safely is left alone", async () => {
  const story = new Story(model, { "MEMORY.md": "x".repeat(30_000) });
  expect(await story.say("remember that it rains")).toContain("nothing was changed");
  expect(story.calls.map((call) => call.name)).toEqual(["read"]);
});

test("a tool that is not offered is not called", async () => {
  const asked = request(
    [user("run ls")],
    SPECS.filter((tool) => tool.name !== "exec"),
  );
  const { calls, text } = await collect(model, asked);
  expect(calls).toEqual([]);
  expect(text).toContain("`exec`");
});

test("answers in the language of the last message; without letters in the one before", async () => {
  const story = new Story(model);
  expect(await story.say("你好")).toContain("你好");
  expect(await story.say("hello")).toContain("Hello");
  expect(await story.say("?!")).toContain("I did not understand");
});

test("text arrives in a few pieces that add up to it; calls are announced", async () => {
  const { deltas, text } = await collect(model, request([user("hello")]));
  expect(deltas.length).toBeGreaterThan(2);
  expect(deltas.length).toBeLessThanOrEqual(8);
  expect(deltas.map((delta) => (delta.kind === "text" ? delta.text : "")).join("")).toBe(text);
  expect((await collect(model, request([user("read a.md")]))).deltas).toEqual([{ kind: "call", name: "read" }]);
});

test("an abort stops it in the middle", async () => {
  const stop = new AbortController();
  const answer = await model.ask(request([user("hello")]), { signal: stop.signal, onDelta: () => stop.abort() });
  expect(answer.stop).toBe("aborted");
});

test("whatever is said and whatever tools answer: it ends, and the same request gets the same answer", async () => {
  const said = fc.oneof(
    fc.constantFrom(...LANGUAGES.flatMap((l) => [l.save, l.again, l.goOn, l.split, l.remember, l.recall, l.hello])),
    fc.string(),
  );
  const result = fc.record({
    text: fc.constantFrom("TODO: one", "ENOENT", "EACCES: denied", "", "- [ ] a\n- [ ] b"),
    isError: fc.boolean(),
    verdict: fc.constantFrom(
      undefined,
      "happened" as const,
      "unknown" as const,
      "conflict" as const,
      "absent" as const,
    ),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(said, { minLength: 1, maxLength: 5 }),
      fc.infiniteStream(result),
      async (texts, results) => {
        const story = new Story(model);
        story.answer = () => {
          const { value } = results.next();
          return { text: value.text, isError: value.isError, ...(value.verdict ? { verdict: value.verdict } : {}) };
        };
        for (const text of texts) expect(await story.say(text)).not.toBe("");
        const asked = request(story.messages.slice(0, -1));
        expect((await collect(model, asked)).answer).toEqual((await collect(model, structuredClone(asked))).answer);
      },
    ),
    { numRuns: 60 },
  );
});
