/**
 * Tells the owner, once, that workspace files do not fit: what an agent does not see it does not follow, and nobody would know.
 * Invariant: it is told to the owner only, and again only when other files or limits are concerned.
 */
import { digest } from "@holdfast/base";
import type { NewEntry } from "@holdfast/sessions";
import type { Work } from "../../work.ts";
import type { Bootstrap, BootstrapLimits } from "./compose.ts";

/** The entry for those who read the log; none where it was told before. */
export async function noticeOfCuts(
  { agent, item }: Work,
  { files, isSqueezed = false }: Bootstrap,
  limits: BootstrapLimits,
): Promise<readonly NewEntry[]> {
  const { from, text: said } = item.message;
  const cut = files.filter((file) => file.cut !== null);
  if (cut.length === 0 || !from.owner || agent.tell === undefined) return [];
  const names = cut.map(({ name }) => name);
  const key = digest({ what: "bootstrap-cut", agent: agent.id, names, isSqueezed, ...limits });
  const lines = cut.map(({ name, cut: why }) => `- ${name}: ${why}`).join("\n");
  const text = /\p{Script=Han}/u.test(said)
    ? `工作区里的这些文件没有完整进入提示：\n${lines}\n其余内容要自己去读才看得到。${isSqueezed ? CHINESE_WINDOW : chineseLimits(limits)}`
    : `These workspace files are not in the prompt as a whole:\n${lines}\nThe rest is seen only when it is read. ${isSqueezed ? ENGLISH_WINDOW : englishLimits(limits)}`;
  if (!(await agent.tell(item, { key, text }))) return [];
  return [{ type: "custom_message", customType: "holdfast:notice", content: text, display: true }];
}

const ENGLISH_WINDOW = "The model's window is too small for them: shorten them, or choose a model with a larger one.";
const CHINESE_WINDOW = "模型的窗口放不下：请缩短文件，或换用窗口更大的模型。";

function englishLimits({ maxChars, totalMaxChars }: BootstrapLimits): string {
  return `Shorten them, or raise agents.defaults.bootstrapMaxChars (now ${maxChars}) and bootstrapTotalMaxChars (now ${totalMaxChars}).`;
}
function chineseLimits({ maxChars, totalMaxChars }: BootstrapLimits): string {
  return `请缩短文件，或调大 agents.defaults.bootstrapMaxChars（现为 ${maxChars}）和 bootstrapTotalMaxChars（现为 ${totalMaxChars}）。`;
}
