/**
 * `/context` in a chat: what the model was sent for the last question, in a few lines.
 * Invariant: where nothing is kept that is said; no model is asked.
 */
import { type Agent, chatText, readRequests } from "@holdfast/agent";
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
