/**
 * `/context` in a chat: what the model was sent for the last question, in a few lines; and what `/compact` did.
 * Invariant: where nothing is kept, or nothing was done, that is said.
 */
import { type Agent, chatText, type CompactedByHand, readRequests } from "@holdfast/agent";
import type { World } from "@holdfast/base";
import { fieldsOf, isMessage, type Session } from "@holdfast/sessions";
import { messageOf } from "./bodies.ts";
import { agoText, isChinese } from "./language.ts";
import type { LaneItem } from "./lanes.ts";

export async function contextText(
  item: LaneItem,
  { agent, world }: { readonly agent: Agent; readonly world: World },
): Promise<string> {
  await using session = await agent.sessions.open(item.queue);
  const chinese = isChinese(messageOf(item).text) || isChinese(lastWords(session));
  const { requests } = session.file === null ? { requests: [] } : await readRequests(session.file);
  const report = requests.at(-1)?.report;
  if (report === undefined) {
    return chinese
      ? "这次对话还没有保存任何请求：模型还没有被问过。"
      : "Nothing is kept of this conversation's requests: no model has been asked yet.";
  }
  const ago = agoText(Date.parse(report.at), world.nowMs(), chinese);
  return chatText(report, { language: chinese ? "zh" : "en", ago });
}

/** What the person said last: an order like this one has no language of its own. */
function lastWords(session: Session): string {
  const entry = session.path().findLast((one) => isMessage(one) && one.message.role === "user");
  return entry === undefined ? "" : JSON.stringify(fieldsOf(entry).message ?? "");
}

/** Whether the person wrote Chinese last. */
export async function speaksChinese(agent: Agent, sessionKey: string): Promise<boolean> {
  await using session = await agent.sessions.open(sessionKey);
  return isChinese(lastWords(session));
}

type Words = readonly [english: string, chinese: string];

const NOT_DONE: Readonly<Record<"nothing" | "busy" | "calls_open", Words>> = {
  nothing: ["There is nothing to compact: all of it is the newest part.", "没有可压缩的内容：全部都是最近的部分。"],
  busy: [
    "Somebody else works on this conversation right now. Send /compact again later.",
    "这次对话正在被处理，请稍后再发 /compact。",
  ],
  calls_open: [
    "A call still waits for its result. Send /compact again when it is there.",
    "还有调用在等待结果，有了结果之后请再发 /compact。",
  ],
};

/** What became of a `/compact`. */
export function compactedText(compacted: CompactedByHand, chinese: boolean): string {
  if (compacted.kind === "failed") {
    const { why } = compacted;
    return chinese ? `没有压缩：${why}。一切保持原样。` : `Not compacted: ${why}. Everything is as it was.`;
  }
  if (compacted.kind !== "compacted") return NOT_DONE[compacted.kind][chinese ? 1 : 0];
  const { before, after, strategy } = compacted;
  const count = (size: number): string => size.toLocaleString("en-US");
  const [from, to] = [before, after].map(({ messages, tokens }) =>
    chinese
      ? `${count(messages)} 条（约 ${count(tokens)} tokens）`
      : `${count(messages)} messages (about ${count(tokens)} tokens)`,
  );
  const how: Words =
    strategy === "summary"
      ? ["a summary, and the newest part as it was", "一份摘要，最近的部分保持不变"]
      : ["the newest part as it was, without a summary", "最近的部分保持不变，没有摘要"];
  return chinese
    ? `已压缩：${from} 变为 ${to}：${how[1]}。原文仍在记录中。`
    : `Compacted: ${from} became ${to}: ${how[0]}. The original stays in the log.`;
}
