/**
 * One to-do in three smaller steps, made from its own words by rules. Pure; a rehearsal, and it shows.
 * Invariant: always three different steps, each naming the to-do or its object.
 */
import type { Language } from "./conversation.ts";

type Steps = readonly [string, string, string];
interface Rule {
  readonly verbs: RegExp;
  readonly steps: (what: string) => Steps;
}

const ENGLISH: readonly Rule[] = [
  {
    verbs: /^(?:send|email|mail|share|forward|deliver|submit)\b/i,
    steps: (what) => [
      `Put together everything for ${what}`,
      `Read it through once as its reader`,
      `Send ${what} and note who has it`,
    ],
  },
  {
    verbs: /^(?:write|draft|prepare|update|document|finish|create|make|summari[sz]e)\b/i,
    steps: (what) => [
      `Outline ${what} in five lines`,
      `Write the first full version of ${what}`,
      `Have one person read ${what}, then correct it`,
    ],
  },
  {
    verbs: /^(?:book|schedule|arrange|plan|organi[sz]e|reserve|set up)\b/i,
    steps: (what) => [
      `Note date, place and people for ${what}`,
      `Compare two options for ${what}`,
      `Confirm ${what} and tell everyone concerned`,
    ],
  },
  {
    verbs: /^(?:review|check|test|verify|read|compare|evaluate|look into|investigate)\b/i,
    steps: (what) => [
      `Write down what to look for in ${what}`,
      `Go through ${what} and mark every finding`,
      `Report the findings on ${what} with one proposal each`,
    ],
  },
  {
    verbs: /^(?:buy|order|get|purchase|pay)\b/i,
    steps: (what) => [
      `Write down what exactly is needed: ${what}`,
      `Compare two offers for ${what}`,
      `Order ${what} and keep the receipt`,
    ],
  },
  {
    verbs: /^(?:call|ask|contact|talk to|meet|invite|remind|tell)\b/i,
    steps: (what) => [
      `Write down the one question for ${what}`,
      `Reach ${what} and ask it`,
      `Note the answer and the next date`,
    ],
  },
  {
    verbs: /^(?:fix|repair|solve|resolve|debug)\b/i,
    steps: (what) => [
      `Show that ${what} is broken, in the smallest way`,
      `Change one thing that mends ${what}`,
      `Check ${what} again and note the cause`,
    ],
  },
];

const CHINESE: readonly Rule[] = [
  {
    verbs: /发送|发给|发出|提交|分享|转发|寄|发/,
    steps: (what) => [`把「${what}」要用的材料收齐`, `以收件人的眼光通读一遍`, `完成「${what}」，并记下谁已收到`],
  },
  {
    verbs: /预订|预定|安排|约|组织|订/,
    steps: (what) => [
      `写下「${what}」的时间、地点和参加的人`,
      `为「${what}」比较两个方案`,
      `敲定「${what}」，通知相关的人`,
    ],
  },
  {
    verbs: /联系|询问|问|打电话|沟通|邀请|提醒|通知/,
    steps: (what) => [`写下「${what}」要问清的一个问题`, `联系到人，把问题问清楚`, `记下答复和下一个日期`],
  },
  {
    verbs: /检查|评审|审核|测试|核对|确认|调研|比较/,
    steps: (what) => [`列出「${what}」要看的几个要点`, `逐项查看，记下每个发现`, `汇总「${what}」的结论，各附一个建议`],
  },
  {
    verbs: /买|采购|购买|付款/,
    steps: (what) => [`写清「${what}」具体需要什么`, `为「${what}」比较两家报价`, `下单并保存凭证`],
  },
  {
    verbs: /修复|修|解决|排查/,
    steps: (what) => [`用最小的步骤重现「${what}」的问题`, `只改一处来解决「${what}」`, `再验证一次，并记下原因`],
  },
  {
    verbs: /写|起草|准备|整理|更新|完成|制作|总结/,
    steps: (what) => [
      `用五行列出「${what}」的提纲`,
      `写出「${what}」的第一个完整版本`,
      `请一个人看过「${what}」，再修改一遍`,
    ],
  },
];

/** "Mei: send the draft by Friday (urgent)" → the act without owner, deadline and remarks. */
function plain(item: string): string {
  return item
    .replace(/^@?[\p{L}]{1,12}\s*[:：]\s*/u, "")
    .replace(/\s*[（(][^()（）]*[)）]\s*$/u, "")
    .replace(/[.。!！;；]+$/u, "")
    .trim();
}

function english(item: string): Steps {
  const act = plain(item).replace(/\s+(?:by|before|until|due)\s+[\w\s:/-]{1,24}$/i, "");
  for (const rule of ENGLISH) {
    if (!rule.verbs.test(act)) continue;
    const what = act.replace(rule.verbs, "").trim();
    return rule.steps(what === "" ? `"${act}"` : what);
  }
  return [
    `Write down when "${act}" counts as done`,
    `Do the first half hour of "${act}"`,
    `Look at the result of "${act}" and note what is left`,
  ];
}

function chinese(item: string): Steps {
  const act = plain(item);
  // The verb that comes first: 预订发布评审 is about booking, although 发 is in it.
  const [rule] = CHINESE.filter(({ verbs }) => verbs.test(act)).sort(
    (one, other) => act.search(one.verbs) - act.search(other.verbs),
  );
  return rule === undefined
    ? [`写下「${act}」做到什么程度算完成`, `先做「${act}」的前半小时`, `看看「${act}」的结果，记下还差什么`]
    : rule.steps(act);
}

export function splitTodo(item: string, language: Language): Steps {
  return language === "zh" || /\p{Script=Han}/u.test(item) ? chinese(item) : english(item);
}
