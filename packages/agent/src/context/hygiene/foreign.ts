/**
 * Messages of roles that no provider knows: summaries, notes, commands that a person ran in another program's terminal.
 * They are told to the model as a person's message. Nothing that was said is dropped; what says nothing is.
 */
import { isObject } from "@holdfast/base";
import type { ContentBlock, EntryMessage } from "@holdfast/sessions";

const SUMMARIES: Readonly<Record<string, string>> = {
  compactionSummary: "The conversation history before this point was compacted into the following summary:",
  branchSummary: "The following is a summary of a branch that this conversation came back from:",
};

/** What it says: a text, or blocks where there are pictures; empty when it says nothing. */
export function foreignContent(message: EntryMessage): string | readonly ContentBlock[] {
  const said = foreignText(message);
  if (said !== null) return said;
  const blocks = foreignBlocks(message);
  return blocks.length === 0 ? "" : blocks;
}

function foreignText(message: EntryMessage): string | null {
  const heading = SUMMARIES[message.role];
  if (heading !== undefined && "summary" in message && typeof message.summary === "string") {
    return `${heading}\n\n<summary>\n${message.summary}\n</summary>`;
  }
  if (message.role === "bashExecution") return commandText(message);
  return typeof message.content === "string" && message.content !== "" ? message.content : null;
}

function commandText(message: EntryMessage): string | null {
  if (!("command" in message) || typeof message.command !== "string" || message.excludeFromContext === true)
    return null;
  const output = typeof message.output === "string" && message.output !== "" ? message.output : "(no output)";
  const code = typeof message.exitCode === "number" && message.exitCode !== 0 ? `\nexit code ${message.exitCode}` : "";
  return `Ran ${message.command}\n${output}${code}`;
}

function foreignBlocks(message: EntryMessage): readonly ContentBlock[] {
  if (!Array.isArray(message.content)) return [];
  return message.content.flatMap((block: unknown): ContentBlock[] => {
    if (!isObject(block)) return [];
    if (block.type === "text" && typeof block.text === "string") return [{ type: "text", text: block.text }];
    if (block.type !== "image" || typeof block.data !== "string" || typeof block.mimeType !== "string") return [];
    return [{ type: "image", data: block.data, mimeType: block.mimeType }];
  });
}
