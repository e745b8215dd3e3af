/**
 * What somebody wants, as far as a handful of patterns can tell, in English and Chinese. Pure.
 * The order of the rules is their priority: a sentence with two readings gets the first.
 */

/** Wishes that can be carried out, and so tried again or continued. */
export type Task =
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "todos"; readonly source: string }
  | { readonly kind: "save"; readonly source: string | null; readonly target: string }
  /** `which` counts from 1, -1 is the last, null was not said. */
  | { readonly kind: "split"; readonly which: number | null }
  | { readonly kind: "remember"; readonly fact: string }
  | { readonly kind: "recall"; readonly about: string }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "sample" };
export type Intent = Task | { readonly kind: "continue" | "again" | "outside" | "about" | "help" | "greet" | "other" };

export const NOTES = "notes/meeting.md";
export const TODO = "notes/todo.md";
export const MEMORY = "MEMORY.md";

const TODO_WORDS = /\bto-?dos?\b|\baction items?\b|\btasks?\b|待办|行动项|任务清单/i;
const SAVE_WORDS = /\b(?:save|store|write|put|keep)\b|保存|存(?:下|到|成|进|入|好|起|一下)|写(?:下|到|进|入|成)/i;
const THEM = /\b(?:them|those|the list)\b|\bsave (?:it|that)\b|它们|这些|那些|下来|一下|^保存/i;
const ASKS_WHETHER = /了(?:吗|没)|\b(?:did|have) you\b/i;
const NOTES_WORDS = /\b(?:meeting|notes?|minutes)\b|会议|纪要|记录|笔记/i;
const READ_WORDS = /\b(?:read|open|show|view|cat|look at|display)\b|看|读|打开|显示/i;
const SPLIT_WORDS = /\b(?:split|break|finer|smaller|divide)\b|拆|细分|分解|细化/i;

/** A path with an extension; letters of any script after a slash, so that Chinese around a path is not taken in. */
const PATH =
  /(?:\.{0,2}\/)?(?:[A-Za-z0-9_.~-]+\/(?:[\p{L}\p{N}_.~-]+\/)*[\p{L}\p{N}_.~-]+|[A-Za-z0-9_.~-]+)\.[A-Za-z0-9]{1,8}|(?<![\w:])\/[\w./-]+/gu;
const LEADS_TO = /(?:\b(?:to|into|in|as)|到|进|入|为|成|在)\s*[`"'“「]?$/i;

interface Paths {
  readonly source: string | null;
  readonly target: string | null;
}

function anyPathIn(text: string): string | null {
  return text.match(PATH)?.[0] ?? null;
}

/** The first path is read; the last of several, or one after "to", is written. */
function pathsIn(text: string): Paths {
  const found = [...text.matchAll(PATH)];
  const last = found.at(-1);
  if (last === undefined) return { source: null, target: null };
  const isTarget = found.length > 1 || LEADS_TO.test(text.slice(0, last.index));
  const source = found.length > 1 || !isTarget ? (found[0]?.[0] ?? null) : null;
  return { source, target: isTarget ? last[0] : null };
}

const ENGLISH_ORDINALS = [
  "first",
  "second",
  "third",
  "fourth",
  "fifth",
  "sixth",
  "seventh",
  "eighth",
  "ninth",
  "tenth",
];
const ENGLISH_NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
const CHINESE_NUMBERS = "一二三四五六七八九十";

/** Which of a list is meant: "the second one", "2nd", "#2", "item 2", 第二项, 最后一项. */
export function ordinalIn(text: string): number | null {
  const chinese = /第\s*([一二三四五六七八九十]|\d{1,2})/.exec(text)?.[1];
  if (chinese !== undefined) return CHINESE_NUMBERS.indexOf(chinese) + 1 || Number(chinese);
  const digits = /\b(\d{1,2})(?:st|nd|rd|th)\b|(?:#|\b(?:number|no\.?|item|to-?do)\s*#?)\s*(\d{1,2})\b/i.exec(text);
  if (digits) return Number(digits[1] ?? digits[2]);
  const words = text.toLowerCase().match(/[a-z]+/g) ?? [];
  const ordinal = words.findIndex((word) => ENGLISH_ORDINALS.includes(word));
  if (ordinal >= 0) return ENGLISH_ORDINALS.indexOf(words[ordinal] ?? "") + 1;
  if (/\blast\b|最后/i.test(text)) return -1;
  const counted = /\b(?:number|item|to-?do) (one|two|three|four|five|six|seven|eight|nine|ten)\b/i.exec(text)?.[1];
  return counted === undefined ? null : ENGLISH_NUMBERS.indexOf(counted.toLowerCase()) + 1;
}

function matched(text: string, pattern: RegExp): string | null {
  const group = pattern.exec(text)?.[1]?.trim();
  return group === undefined || group === "" ? null : group;
}

function commandIn(text: string): string | null {
  const said =
    matched(text, /^(?:please\s+)?(?:run|execute|exec)\s+(?:the command\s+)?[:：]?\s*(.+)$/is) ??
    matched(text, /^(?:请|帮我|请帮我)?(?:运行|执行|跑)(?:一下|下)?(?:命令)?\s*[:：]?\s*(.+)$/s);
  return said === null ? null : said.replace(/^[`「"“]+|[`」"”。]+$/gu, "").trim();
}

function factIn(text: string): string | null {
  return (
    matched(text, /^(?:please\s+)?(?:remember|note|keep in mind)\b\s*(?:that\b)?\s*[,:]?\s*(.+)$/is) ??
    matched(text, /^(?:请|帮我|请帮我|你)?(?:记住|记下|记一下|记得)\s*[,，:：]?\s*(.+)$/s)
  );
}

const RECALL: readonly RegExp[] = [
  /^(?:so\s+)?(?:what (?:do|did) you (?:still )?(?:remember|know)|(?:do|can) you (?:still )?(?:remember|recall)|recall)\b\s*(?:about\b)?\s*(.*?)[?.]*$/is,
  /^你?(?:还|都)记得\s*(.*?)(?:吗|(?<!什)么|呢)?[?？。]*$/s,
  /^你?(?:记不记得|记住了|记得)\s*(.*?)(?:吗|(?<!什)么|呢|[?？])+$/s,
];

function recallIn(text: string): string | null {
  for (const pattern of RECALL) {
    const found = pattern.exec(text);
    if (found) return found[1]?.trim() ?? "";
  }
  return null;
}

type Rule = (text: string) => Intent | null;
type Plain = Exclude<Intent, Exclude<Task, { kind: "sample" }>>;
const when =
  (pattern: RegExp, kind: Plain["kind"]): Rule =>
  (text) =>
    pattern.test(text) ? { kind } : null;

const RULES: readonly Rule[] = [
  when(
    /^(?:ok(?:ay)?[,.!]?\s*|yes[,.!]?\s*|please\s+)?(?:continue|go on|carry on|proceed|resume|keep going)\b|^(?:好的?[,，。]?|请)?(?:继续|接着|往下)/i,
    "continue",
  ),
  when(
    /\b(?:try|do|save|run) (?:it |that |them )?(?:once )?(?:again|more)\b|\bretry\b|^again\b|再试|重试|再来一[次遍]|再存一[次遍]|现在(?:可以|行|好)了/i,
    "again",
  ),
  (text) => {
    const about = recallIn(text);
    return about === null ? null : { kind: "recall", about };
  },
  (text) => {
    const fact = factIn(text);
    return fact === null ? null : { kind: "remember", fact };
  },
  (text) => {
    const command = commandIn(text);
    return command === null ? null : { kind: "run", command };
  },
  (text) => (SPLIT_WORDS.test(text) ? { kind: "split", which: ordinalIn(text) } : null),
  when(
    /\b(?:weather|forecast|news|stock price|google|search the (?:web|internet)|online)\b|天气|新闻|股价|上网|联网|网上|百度/i,
    "outside",
  ),
  when(/\b(?:sample|example) (?:meeting )?notes?\b|示例(?:的)?(?:会议)?(?:纪要|记录|笔记)/i, "sample"),
  (text) => {
    if (!SAVE_WORDS.test(text) || ASKS_WHETHER.test(text) || !(TODO_WORDS.test(text) || THEM.test(text))) return null;
    const { source, target } = pathsIn(text);
    const named = source ?? (NOTES_WORDS.test(text.replace(PATH, "")) ? NOTES : null);
    return { kind: "save", source: named, target: target ?? TODO };
  },
  (text) =>
    TODO_WORDS.test(text) && !/\bto-?do\.md\b/i.test(text) ? { kind: "todos", source: anyPathIn(text) ?? NOTES } : null,
  (text) => {
    const path = READ_WORDS.test(text) ? anyPathIn(text) : null;
    if (path !== null) return { kind: "read", path };
    return READ_WORDS.test(text) && NOTES_WORDS.test(text) ? { kind: "read", path: NOTES } : null;
  },
  when(
    /\b(?:who|what) are you\b|\bare you (?:a |an )?(?:real|ai|llm|model|bot|human)|\brehearsal\b|\bconfigure\b|\bapi key\b|\breal model\b|你是谁|你是什么|你是(?:不是)?.*(?:模型|机器人|真人|AI)|排练|彩排|配置|真(?:正)?的?模型|密钥/i,
    "about",
  ),
  when(
    /\bhelp\b|\bwhat (?:can|should|could) (?:i|you)\b|\bhow does this work\b|帮助|怎么用|能做(?:什么|啥)|会(?:什么|做什么|干什么)|可以(?:做|试|干)(?:些)?什么|有什么功能/i,
    "help",
  ),
  when(
    /^(?:hi|hello|hey|good (?:morning|afternoon|evening)|greetings)\b|^(?:你好|您好|嗨|哈喽|早上好|下午好|晚上好|早安|在吗|大家好)/i,
    "greet",
  ),
];

/** Never fails: what no rule knows is `other`. */
export function understand(text: string): Intent {
  const trimmed = text.trim();
  for (const rule of RULES) {
    const intent = rule(trimmed);
    if (intent !== null) return intent;
  }
  return { kind: "other" };
}

const OUTSIDE_TASKS = new Set<string>(["continue", "again", "outside", "about", "help", "greet", "other"]);

export function isTask(intent: Intent): intent is Task {
  return !OUTSIDE_TASKS.has(intent.kind);
}
