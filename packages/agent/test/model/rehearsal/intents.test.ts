/** What is understood, as a table: the literal sentences people will try, in both languages. */
import { expect, test } from "vitest";
import { type Intent, ordinalIn, understand } from "../../../src/model/rehearsal/intents.ts";

const save = (source: string | null, target = "notes/todo.md"): Intent => ({ kind: "save", source, target });
const notes = "notes/meeting.md";

const TABLE: readonly (readonly [string, Intent])[] = [
  ["hello", { kind: "greet" }],
  ["Hi there!", { kind: "greet" }],
  ["你好", { kind: "greet" }],
  ["早上好呀", { kind: "greet" }],

  ["help", { kind: "help" }],
  ["What can I try?", { kind: "help" }],
  ["what can you do", { kind: "help" }],
  ["帮助", { kind: "help" }],
  ["你能做什么？", { kind: "help" }],
  ["你会什么", { kind: "help" }],

  ["who are you?", { kind: "about" }],
  ["Are you a real model?", { kind: "about" }],
  ["how do I configure a model", { kind: "about" }],
  ["你是谁？", { kind: "about" }],
  ["你是真的大模型吗", { kind: "about" }],
  ["怎么配置模型", { kind: "about" }],

  ["read notes/meeting.md", { kind: "read", path: notes }],
  ["Please show me `docs/plan.txt`", { kind: "read", path: "docs/plan.txt" }],
  ["open /etc/passwd", { kind: "read", path: "/etc/passwd" }],
  ["read ../secret.txt", { kind: "read", path: "../secret.txt" }],
  ["read the meeting notes", { kind: "read", path: notes }],
  ["看一下 notes/meeting.md", { kind: "read", path: notes }],
  ["看一下notes/会议.md", { kind: "read", path: "notes/会议.md" }],
  ["读一下会议记录", { kind: "read", path: notes }],
  ["看看 notes/todo.md", { kind: "read", path: "notes/todo.md" }],
  ["read MEMORY.md", { kind: "read", path: "MEMORY.md" }],

  ["list the to-dos", { kind: "todos", source: notes }],
  ["What are the action items in docs/minutes.md?", { kind: "todos", source: "docs/minutes.md" }],
  ["show me the todos", { kind: "todos", source: notes }],
  ["列出待办", { kind: "todos", source: notes }],
  ["会议记录里有哪些待办？", { kind: "todos", source: notes }],

  ["save them", save(null)],
  ["Save them to notes/friday.md", save(null, "notes/friday.md")],
  ["save the to-dos", save(null)],
  ["把它们保存下来", save(null)],
  ["保存待办", save(null)],
  ["把待办存到 notes/friday.md", save(null, "notes/friday.md")],
  ["read the notes, extract the to-dos and save them", save(notes)],
  ["Read notes/a.md, extract the to-dos and save them to notes/b.md", save("notes/a.md", "notes/b.md")],
  ["读会议记录，提取待办并保存", save(notes)],
  ["看一下 notes/meeting.md，把待办整理出来保存到 notes/todo.md", save(notes)],

  ["the second one, split it finer", { kind: "split", which: 2 }],
  ["刚才第二项待办，能不能再拆细一点？", { kind: "split", which: 2 }],
  ["刚才第二项，再拆细一点", { kind: "split", which: 2 }],
  ["Can you break the 3rd to-do down?", { kind: "split", which: 3 }],
  ["split #2", { kind: "split", which: 2 }],
  ["split the last one into smaller steps", { kind: "split", which: -1 }],
  ["第三项拆一下", { kind: "split", which: 3 }],
  ["split it finer", { kind: "split", which: null }],

  ["remember that the office closes at six", { kind: "remember", fact: "the office closes at six" }],
  ["Please remember: Mei likes tea", { kind: "remember", fact: "Mei likes tea" }],
  ["记住：办公室六点关门", { kind: "remember", fact: "办公室六点关门" }],
  ["请记住我喜欢绿茶", { kind: "remember", fact: "我喜欢绿茶" }],
  ["帮我记一下，周五交房租", { kind: "remember", fact: "周五交房租" }],

  ["what do you remember about the office?", { kind: "recall", about: "the office" }],
  ["Do you remember my tea?", { kind: "recall", about: "my tea" }],
  ["你还记得办公室几点关门吗？", { kind: "recall", about: "办公室几点关门" }],
  ["你还记得什么", { kind: "recall", about: "什么" }],

  ["run ls -la", { kind: "run", command: "ls -la" }],
  ["please run `git status`", { kind: "run", command: "git status" }],
  ["运行 ls", { kind: "run", command: "ls" }],
  ["执行一下 `ls -la`。", { kind: "run", command: "ls -la" }],
  ["run cat notes/todo.md", { kind: "run", command: "cat notes/todo.md" }],

  ["继续", { kind: "continue" }],
  ["请继续", { kind: "continue" }],
  ["continue", { kind: "continue" }],
  ["OK, go on", { kind: "continue" }],
  ["try again", { kind: "again" }],
  ["I fixed the permission, try again please", { kind: "again" }],
  ["现在可以了，再试一次", { kind: "again" }],
  ["再试一次", { kind: "again" }],

  ["帮我查下天气", { kind: "outside" }],
  ["check the weather", { kind: "outside" }],

  ["make sample notes", { kind: "sample" }],
  ["准备示例会议记录", { kind: "sample" }],

  ["xyzzy", { kind: "other" }],
  ["save a note that I like tea", { kind: "other" }],
  ["保存下来了吗？", { kind: "other" }],
  ["今晚吃什么", { kind: "other" }],
  ["", { kind: "other" }],
];

test.each(TABLE)("%s", (text, intent) => {
  expect(understand(text)).toEqual(intent);
});

test.each([
  ["the first one", 1],
  ["2nd", 2],
  ["item 4", 4],
  ["number two", 2],
  ["第十项", 10],
  ["第3条", 3],
  ["最后一项", -1],
  ["split it", null],
])("%s means %s", (text, which) => {
  expect(ordinalIn(text)).toBe(which);
});
