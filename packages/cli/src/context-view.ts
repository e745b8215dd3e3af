/** What a model would get, as text for people: one line per message, then what was left out and why. Pure. */
import { isObject } from "@holdfast/base";
import { type Context, fieldsOf } from "@holdfast/sessions";
import { type Palette, printable } from "./output.ts";
import { counted } from "./table.ts";

const TEXT_CHARS_MAX = 100;

export function drawContext(context: Context, paint: Palette): string {
  const { report, model, thinkingLevel } = context;
  const messages = context.messages.map(
    (message, index) => `${paint.dim(context.entryIds[index] ?? "-")} ${message.role}  ${excerptOf(fieldsOf(message))}`,
  );
  const leftOut = report.leftOut.map(({ id, why }) => `${paint.dim(id)} left out: ${why}`);
  const compaction = report.compaction === null ? "" : `, after compaction ${report.compaction}`;
  const asked = model?.provider === undefined ? "no model named" : `${model.provider}/${model.modelId}`;
  const summary = `${counted(report.messages, "message")}, about ${report.approximateTokens} tokens${compaction}; ${asked}, thinking ${thinkingLevel}`;
  return [...messages, ...leftOut, paint.bold(printable(summary))].join("\n");
}

/** What a message says, on one line. */
export function excerptOf({ content, summary }: Readonly<Record<string, unknown>>): string {
  const text = printable(plain(content ?? summary))
    .replace(/\s+/g, " ")
    .trim();
  return text.length > TEXT_CHARS_MAX ? `${text.slice(0, TEXT_CHARS_MAX - 1)}…` : text;
}

function plain(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.filter(isObject).map(blockText).join(" ");
}

function blockText(block: Record<string, unknown>): string {
  if (typeof block.text === "string") return block.text;
  if (block.type === "toolCall") return `→ ${String(block.name)}(${JSON.stringify(block.arguments)})`;
  return `(${String(block.type)})`;
}
