/**
 * One to-do in three smaller steps, by rules that look at its verb. Pure; a rehearsal, and it shows.
 * Invariant: always three different steps in the language of the person, whatever the language of the to-do, and none
 * repeats the to-do: whoever answers quotes it once, as it is written.
 */
import type { Language } from "./conversation.ts";

type Steps = readonly [string, string, string];
interface Rule {
  /** At the beginning of an English to-do. */
  readonly english: RegExp;
  /** Anywhere in a Chinese one; the verb that comes first decides. */
  readonly chinese: RegExp;
  readonly steps: Readonly<Record<Language, Steps>>;
}

const RULES: readonly Rule[] = [
  {
    english: /^(?:send|email|mail|share|forward|deliver|submit)\b/i,
    chinese: /发送|发给|发出|提交|分享|转发|寄|发/,
    steps: {
      en: [
        "Gather everything that has to go along",
        "Read it once as the one who gets it",
        "Send it, and note who has it",
      ],
      zh: ["把要一起发出的材料收齐", "站在收件人的角度通读一遍", "发出去，并记下谁已收到"],
    },
  },
  {
    english: /^(?:book|schedule|arrange|plan|organi[sz]e|reserve|set up)\b/i,
    chinese: /预订|预定|安排|约|组织|订/,
    steps: {
      en: [
        "Write down date, time and how many people it is for",
        "Ask for two offers and compare them",
        "Book the better one, and tell everyone concerned",
      ],
      zh: ["写下日期、时间和人数", "问两家，比较一下", "定下更合适的一家，并通知相关的人"],
    },
  },
  {
    english: /^(?:call|ask|contact|talk to|meet|invite|remind|tell)\b/i,
    chinese: /联系|询问|问|打电话|沟通|邀请|提醒|通知/,
    steps: {
      en: [
        "Write down the one thing that has to be settled",
        "Get in touch, and ask for an answer by a day",
        "Note the answer, and what follows from it",
      ],
      zh: ["写下必须谈定的那一件事", "联系对方，约好答复的日期", "记下答复，以及接下来要做什么"],
    },
  },
  {
    english: /^(?:review|check|test|verify|read|compare|evaluate|look into|investigate)\b/i,
    chinese: /检查|评审|审核|测试|核对|确认|调研|比较/,
    steps: {
      en: [
        "List the points to look at",
        "Go through them one by one, and mark what you find",
        "Sum up, with one proposal for each finding",
      ],
      zh: ["列出要看的几个要点", "逐项查看，记下发现的问题", "汇总结论，每个问题附一个建议"],
    },
  },
  {
    english: /^(?:buy|order|get|purchase|pay)\b/i,
    chinese: /买|采购|购买|付款/,
    steps: {
      en: ["Write down exactly what is needed, and how many", "Compare two offers", "Order, and keep the receipt"],
      zh: ["写清具体要什么、要多少", "比较两家报价", "下单并保存凭证"],
    },
  },
  {
    english: /^(?:fix|repair|solve|resolve|debug)\b/i,
    chinese: /修复|修|解决|排查/,
    steps: {
      en: [
        "Find the smallest way to see that it is broken",
        "Change one thing that mends it",
        "Look again, and note the cause",
      ],
      zh: ["找到最简单的重现方法", "只改一处，把它修好", "再验证一次，并记下原因"],
    },
  },
  {
    english: /^(?:write|draft|prepare|update|document|finish|create|make|summari[sz]e|list)\b/i,
    chinese: /写|起草|准备|整理|更新|完成|制作|总结|列/,
    steps: {
      en: [
        "Note the five points that must be in it",
        "Write a first version from beginning to end",
        "Have one person read it, then correct it",
      ],
      zh: ["列出必须写到的五个要点", "从头到尾写出第一版", "请一个人看过，再修改一遍"],
    },
  },
];

const OTHERWISE: Readonly<Record<Language, Steps>> = {
  en: [
    "Write down when it counts as done",
    "Do the first half hour of it",
    "Look at the result, and note what is left",
  ],
  zh: ["写下做到什么程度算完成", "先做半小时", "看看结果，记下还差什么"],
};

/** "Mei: send the draft" → without the owner. */
function plain(item: string): string {
  return item.replace(/^@?[\p{L}]{1,12}\s*[:：]\s*/u, "").trim();
}

function ruleOf(item: string): Rule | undefined {
  const act = plain(item);
  if (!/\p{Script=Han}/u.test(act)) return RULES.find(({ english }) => english.test(act));
  // The verb that comes first: 预订发布评审 is about booking, although 发 is in it.
  const [first] = RULES.filter(({ chinese }) => chinese.test(act)).sort(
    (one, other) => act.search(one.chinese) - act.search(other.chinese),
  );
  return first;
}

/** `language`: in which the steps are said. */
export function splitTodo(item: string, language: Language): Steps {
  return (ruleOf(item)?.steps ?? OTHERWISE)[language];
}
