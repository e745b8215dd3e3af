/** The rehearsal model's Chinese. Examples are whole messages that it understands; a test says each of them. */
import { assertNever } from "@holdfast/base";
import type { Step } from "./conversation.ts";
import type { Words } from "./words.ts";

const CONFIGURATION = `\`\`\`json5
{
  agents: { defaults: { model: { primary: "openai/MODEL" } } },
  models: { providers: { openai: {
    api: "openai-completions", baseUrl: "https://api.openai.com/v1", apiKey: "\${OPENAI_API_KEY}",
    models: [{ id: "MODEL", contextWindow: 128000, maxTokens: 16000 }],
  } } },
}
\`\`\``;

export const CHINESE: Words = {
  notice: "（这是排练：只有几条固定规则，没有语言模型。想知道怎样接入真正的模型，请问 `你是谁？`）",
  about: `我是 Holdfast 的排练模型：只有几条固定规则，不是语言模型。我离线运行，不需要密钥，让你在接入真正的模型之前先试试文件、记忆、命令和崩溃恢复。

要接入真正的模型，把下面的内容写进 \`holdfast.json\`（任何兼容 OpenAI 的地址都可以），然后重新启动网关：

${CONFIGURATION}`,
  greeting: `你好！这是排练：我只是几条固定规则，不是语言模型，但文件、记忆和命令都是真的。可以试试：

- \`准备示例会议记录\`
- \`读会议记录，提取待办并保存\`
- \`刚才第二项，再拆细一点\`

真正的模型在 \`holdfast.json\` 里配置：\`agents.defaults.model.primary\` 和 \`models.providers\`。`,
  help: `在这次排练里（没有语言模型，只有规则），你可以用自己的话说：

- \`准备示例会议记录\`：写一份可以试用的会议记录
- \`看一下 notes/meeting.md\`
- \`列出待办\`
- \`把它们保存下来\` 或 \`把待办保存到 notes/friday.md\`
- \`刚才第二项，再拆细一点\`
- \`记住：办公室六点关门\`
- \`你还记得办公室几点关门吗？\`
- 被打断或被拒绝之后：\`继续\` 或 \`再试一次\`

随时可以杀掉网关再启动，对话会接着走。想知道怎样接入真正的模型，请问 \`你是谁？\``,
  fallback: `这句话我没有听懂。这是排练：只有几条固定规则，没有语言模型。我会读文件、找出并保存待办、拆分待办、记住事情、运行命令。例如：

- \`看一下 notes/meeting.md\`
- \`列出待办\`
- \`记住：办公室六点关门\`

想知道怎样接入真正的模型，请问 \`你是谁？\``,
  outside:
    "这个我查不了：排练里没有这样的工具，也不联网。需要一个真正的模型（`holdfast.json` 里的 `agents.defaults.model.primary` 和 `models.providers`），以及一个能取得这些数据的工具（`tools.modules`）。",
  noTool: (tool) =>
    `这需要工具 \`${tool}\`，但本次对话不能用它。请在 \`holdfast.json\` 的 \`agents.defaults.tools\` 里允许它。`,

  fileShown: (path, fenced) => `\`${path}\` 的内容：\n\n${fenced}`,
  readFailed: (path, why) => `读不了 \`${path}\`：${why}`,
  sampleHint: "说一声 `准备示例会议记录`，我就写一份来试用。",
  sampleWritten: (path) => `示例会议记录已写到 \`${path}\`。接下来可以说 \`读会议记录，提取待办并保存\`。`,
  sampleExists: (path) => `\`${path}\` 已经存在，我没有动它。说 \`列出待办\` 看看里面有什么。`,
  sample: `# 周会

参加：小美、老张、小周。发布改到 12 号。

- 待办：周五前把预算草案发给小美
- 待办：预订发布评审的会议室
- 待办：联系供应商，问清新的交货日期
`,

  listHeading: "待办",
  todosFound: (path, list) => `\`${path}\` 里的待办：\n\n${list}\n\n说 \`把它们保存下来\`，我就存成清单。`,
  todosNone: (path) => `\`${path}\` 里没有找到待办。我找的是 \`待办：……\`、\`TODO: ...\` 或 \`- [ ] ……\` 这样的行。`,
  saved: (path, list) => `已保存到 \`${path}\`：\n\n${list}`,
  notSaved: (path, why) => `什么都没有保存：\`${path}\` 写不进去。给出的原因：${why}`,
  permissionHint:
    "需要做的：给网关的用户写这个位置的权限（例如 `chmod u+w`），并且 `holdfast.json` 的 `agents.defaults.tools` 要允许这个工具。",
  retryHint: "然后说 `再试一次`。",

  splitDone: (which, item, list) => `第 ${which} 项待办「${item}」可以拆成：\n\n${list}`,
  splitWhich: (list) => `要拆哪一项？例如说 \`刚才第二项，再拆细一点\`。\n\n${list}`,
  splitMissing: (which, list) => `${which === -1 ? "没有最后一项" : `没有第 ${which} 项`}待办。现在有：\n\n${list}`,
  noList: (path) => `我不知道有哪些待办：这次对话里没有，\`${path}\` 里也没有。请先说 \`列出待办\`。`,

  remembered: (fact, path) => `记住了，写在 \`${path}\`：${fact}`,
  notRemembered: (why) => `没能记下来。给出的原因：${why}`,
  memoryTooLarge: (path) => `\`${path}\` 太长，我没有把握安全地追加，所以什么都没有改。请手动加上这一行。`,
  recalled: (path, list) => `\`${path}\` 里写着：\n\n${list}`,
  nothingRemembered: "我还什么都没有记住。可以说 `记住：办公室六点关门`。",

  ran: (command, fenced) => `\`${command}\` 的输出：\n\n${fenced}`,
  runFailed: (command, fenced) => `\`${command}\` 没有成功：\n\n${fenced}`,

  settledHeading: "中断之后，我先弄清了没有结果的操作：",
  settled: (action, step) => `- ${action}${settledAs(step)}`,
  undecided: (action) =>
    `我先停在这里：${action}的结果还没有定论。没有重复做任何事。请你看一眼，再告诉我怎么办；说 \`再试一次\` 会再要求做一次。`,
  nothingOpen: "没有未完成的事：你要求的都已做完或已答复。说 `帮助` 看看可以试什么。",
  nothingToRetry: "还没有可以重试的事。说 `帮助` 看看可以试什么。",
};

function settledAs({ verdict, failed }: Step): string {
  switch (verdict) {
    case "happened":
      return "在中断前已经完成，核对现状后确认；没有重复执行。";
    case "absent":
    case "not_started":
      return failed ? "没有发生。" : "当时没有发生，所以现在执行了一次。";
    case "conflict":
      return "的位置上是别的内容；没有覆盖。";
    case "unknown":
    case null:
      return "是否发生过无法确定；没有重复执行。看一眼它的目标就能弄清。";
    default:
      return assertNever(verdict);
  }
}
