/** What reports say for people, in English and Chinese. Pure. A word that is not known here is said as it stands. */
import type { RequestReport, Why } from "./report.ts";

export type Language = "en" | "zh";
type Words = readonly [english: string, chinese: string];

/** Why something is not in a request. Null: nobody would miss it. */
const LEFT_OUT: Readonly<Record<string, Words | null>> = {
  compacted: ["from before the last summary", "在最近一次摘要之前"],
  older_compaction: ["older summaries", "较早的摘要"],
  edited_away: ["taken out by an edit", "被编辑移除"],
  max_messages: ["beyond the limit of messages", "超出消息条数上限"],
  max_tokens: ["beyond the limit of tokens", "超出 token 上限"],
  workspace_skipped: ["workspace files, which this branch has had", "工作区文件，此分支已经有过"],
  workspace_never: ["workspace files, as configured", "工作区文件，按配置不发送"],
  not_for_the_model: null,
};
/** What was changed in memory. */
const CHANGED: Readonly<Record<string, Words>> = {
  failed_answer: ["answers that failed, left out", "失败的回答，未发送"],
  cut_call: ["answers that were cut short, without their calls", "被中断的回答，去掉了其中的调用"],
  empty_answer: ["answers that said nothing, left out", "空的回答，未发送"],
  empty: ["empty messages, marked as empty", "空消息，已标明"],
  thought: ["answers without thoughts that this model cannot take", "去掉了此模型不接受的思考内容"],
  text_repaired: ["messages with characters that cannot be sent, replaced", "替换了无法发送的字符"],
  arguments: ["calls whose arguments were no object", "参数不是对象的调用，已改写"],
  tool_name: ["calls with a name that cannot be sent", "名称无法发送的调用，已改写"],
  call_id: ["answers with calls under other ids", "调用换了编号"],
  result_of_no_call: ["results of no call, left out", "没有对应调用的结果，未发送"],
  joined: ["messages joined with the one before", "与前一条合并的消息"],
  answer_put_in: ["answers put in between", "中间补入的回答"],
  begins_with_an_answer: ["note put in before the first answer", "第一个回答前补入的说明"],
  ends_with_an_answer: ["note put in after the last answer", "最后一个回答后补入的说明"],
  image: ["messages with pictures left out", "省略了图片的消息"],
};

/** `beyond the limit of messages ×3`; null: not worth a word. */
export function whyText({ why, count }: Why, language: Language): string | null {
  const words = LEFT_OUT[why] === undefined ? CHANGED[why] : LEFT_OUT[why];
  if (words === null) return null;
  const missing = /^no_result: (.*)$/s.exec(why);
  const said = words ?? (missing === null ? undefined : noResult(missing[1] ?? ""));
  return `${said?.[language === "zh" ? 1 : 0] ?? why} ×${count}`;
}

function noResult(tool: string): Words {
  return [`calls of ${tool} whose result is not on record`, `${tool} 的调用没有结果记录`];
}

const grouped = (count: number): string => count.toLocaleString("en-US");

/** A report in a few lines, for a chat. `ago`: how long ago it was, in the same language. */
export function chatText(
  report: RequestReport,
  { language, ago }: { readonly language: Language; readonly ago: string },
): string {
  const zh = language === "zh";
  const { tokens, limits, prefix, bytes, n, model, files, messages } = report;
  const window = typeof limits.contextWindow === "number" ? ` / ${grouped(limits.contextWindow)}` : "";
  const how = zh ? (tokens.how === "counted" ? "实数" : "估算") : tokens.how;
  const others = grouped(Math.max(0, messages - 1));
  const share = bytes === 0 ? 0 : Math.floor((100 * prefix.bytes) / bytes);
  const list = (whys: readonly Why[]): string =>
    whys.flatMap((why) => whyText(why, language) ?? []).join(zh ? "；" : "; ");
  const named = files.map(({ name, cut }) => (cut === null ? name : `${name} (${cut})`)).join(", ");
  const [left, changed] = [list(report.leftOut), list(report.changed)];
  return [
    zh ? `第 ${n} 次请求，${ago}，发给 ${model}` : `Request ${n}, ${ago}, to ${model}`,
    zh
      ? `${grouped(tokens.total)}${window} tokens（${how}）：系统提示 ${grouped(tokens.system)} · 工具 ${grouped(tokens.tools)} · 历史 ${grouped(tokens.history)}（${others} 条） · 最新消息 ${grouped(tokens.newest)}`
      : `${grouped(tokens.total)}${window} tokens (${how}): system ${grouped(tokens.system)} · tools ${grouped(tokens.tools)} · history ${grouped(tokens.history)} in ${others} messages · newest message ${grouped(tokens.newest)}`,
    ...(named === "" ? [] : [zh ? `文件：${named}` : `Files: ${named}`]),
    ...(prefix.with === null
      ? []
      : [zh ? `与上一次请求开头相同：${share}%` : `Begins like the request before: ${share}%`]),
    ...(report.compaction === null ? [] : [zh ? "更早的内容：在摘要里" : "What was before: in a summary"]),
    ...(left === "" ? [] : [zh ? `未包含：${left}` : `Left out: ${left}`]),
    ...(changed === "" ? [] : [zh ? `有改动：${changed}` : `Changed: ${changed}`]),
    zh
      ? `细节：holdfast session context ${report.sessionKey} --request ${n}`
      : `In detail: holdfast session context ${report.sessionKey} --request ${n}`,
  ].join("\n");
}
