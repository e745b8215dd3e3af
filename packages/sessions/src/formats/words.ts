/** The words that exports for people add to what was said, in English and Chinese. */

export type Language = "en" | "zh";

const ENGLISH = {
  user: "User",
  assistant: "Assistant",
  system: "System",
  toolResult: "Result",
  custom: "Note",
  bashExecution: "Command",
  compaction: "Summary of what came before",
  branch_summary: "Summary of another branch",
  failed: "failed",
  thinking: "Thinking",
  call: "Tool",
  image: "Image",
  branches: "Other branches",
  branch: "Branch",
  branchesOff: "after",
  begins: "begins on its own",
  back: "back to where it branches off",
  elsewhere: "another way from here",
  message: "message",
  messages: "messages",
  colon: ": ",
  empty: "Nothing was said yet.",
  untitled: "Conversation",
  exported: "From the transcript",
} as const;

type Words = Readonly<Record<keyof typeof ENGLISH, string>>;

const CHINESE: Words = {
  user: "用户",
  assistant: "助手",
  system: "系统",
  toolResult: "结果",
  custom: "备注",
  bashExecution: "命令",
  compaction: "此前内容的摘要",
  branch_summary: "另一分支的摘要",
  failed: "失败",
  thinking: "思考",
  call: "工具",
  image: "图片",
  branches: "其他分支",
  branch: "分支",
  branchesOff: "接在此后",
  begins: "独立开始",
  back: "回到分叉处",
  elsewhere: "从这里的另一条路",
  message: "条消息",
  messages: "条消息",
  colon: "：",
  empty: "还没有任何内容。",
  untitled: "对话",
  exported: "来自会话记录",
};

export function wordsIn(language: Language): Words {
  return language === "zh" ? CHINESE : ENGLISH;
}

/** Who speaks in an entry. */
export function speakerOf(kind: string, words: Words): string {
  return Object.hasOwn(words, kind) ? words[kind as keyof Words] : kind;
}

export type { Words };
