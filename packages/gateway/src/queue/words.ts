/**
 * Which messages are orders to the gateway: a stop, an answer to a request for approval. Pure.
 * Invariant: only a message that is nothing but such a word stops anything; "stop the music at ten" is a message like any other.
 */

const WORDS: ReadonlySet<string> = new Set([
  ...["/stop", "stop", "wait", "abort", "halt", "cancel", "please stop", "stop please", "stop it"],
  ...["停", "停下", "停止", "停一下", "先停", "等等", "等一下", "取消", "先别改", "别改了", "先别动", "住手", "中止"],
  ...["停止して", "止めて", "やめて", "ストップ", "待って", "중지", "멈춰", "그만"],
  ...["стоп", "остановись", "alto", "para", "arrête", "stopp", "halt bitte"],
]);

const YES: ReadonlySet<string> = new Set([
  "yes",
  "ok",
  "okay",
  "approve",
  "allow",
  "同意",
  "批准",
  "允许",
  "可以",
  "是",
  "好",
]);
const NO: ReadonlySet<string> = new Set([
  "no",
  "deny",
  "refuse",
  "拒绝",
  "不同意",
  "不批准",
  "不允许",
  "不行",
  "不可以",
  "否",
]);

/** A person's answer to a request: `/approve ID`, `/deny ID`, or a plain yes or no that names none. */
export interface Answer {
  readonly decision: "yes" | "no";
  /** The beginning of the request's id, or null. */
  readonly id: string | null;
  readonly plain: boolean;
}

export function answerIn(text: string): Answer | null {
  if (text.length > 128) return null;
  const word = plainWord(text);
  const order = /^\/(approve|deny)(?: +(\S+))?$/u.exec(word);
  if (order !== null) return { decision: order[1] === "approve" ? "yes" : "no", id: order[2] ?? null, plain: false };
  if (YES.has(word)) return { decision: "yes", id: null, plain: true };
  return NO.has(word) ? { decision: "no", id: null, plain: true } : null;
}

/** A question about what the model was sent, or the wish to shorten it. */
export type ContextOrder =
  | { readonly kind: "context" }
  /** `focus`: what is to be kept above all. */
  | { readonly kind: "compact"; readonly focus: string | null };

const FOCUS_CHARS_MAX = 2_000;

/** A question with more behind it is a message like any other; behind a wish stands what it is about. */
export function contextOrderIn(text: string): ContextOrder | null {
  const said = text.trim();
  if (/^[/／](?:context|上下文)$/iu.test(said)) return { kind: "context" };
  const wish = /^[/／](?:compact|压缩)(?:[\s:：]+(.+))?$/isu.exec(said);
  if (wish === null) return null;
  const focus = wish[1]?.trim() ?? "";
  return { kind: "compact", focus: focus === "" ? null : focus.slice(0, FOCUS_CHARS_MAX).toWellFormed() };
}

/** Whatever a person puts around a word without meaning anything by it. */
const AROUND = /^[\s"'“”‘’「」]+|[\s"'“”‘’「」.,!?;:…。，！？；：～~]+$/gu;

export function isStop(text: string): boolean {
  return text.length <= 64 && WORDS.has(plainWord(text));
}

function plainWord(text: string): string {
  return text.normalize("NFKC").replace(AROUND, "").replace(/\s+/gu, " ").toLowerCase();
}
