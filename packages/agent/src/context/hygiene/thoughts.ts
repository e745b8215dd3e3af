/**
 * Thoughts, and the signatures with which a provider knows its own again.
 *
 * Invariant: they go back only to the model that gave them, and only in a form that it can verify; text and calls stay.
 */
import { isObject, tryParse } from "@holdfast/base";
import type { AssistantMessage, ContentBlock, ThinkingBlock } from "@holdfast/sessions";
import type { Rules, Target } from "./families.ts";

export interface Thoughts {
  readonly content: readonly ContentBlock[];
  /** Whether its calls keep the ids that tie them to stored thoughts. They are taken off where calls and results are paired. */
  readonly linked: boolean;
}

/** The blocks without thoughts that the target cannot take. `cut`: the answer was not finished, so what followed them may be gone. */
export function thoughtsFor(
  answer: AssistantMessage,
  { rules, target, cut }: { readonly rules: Rules; readonly target: Target; readonly cut: boolean },
): Thoughts {
  const { content } = answer;
  if (rules.thoughts === "all") return { content, linked: true };
  const items = rules.thoughts === "items";
  const isOwn = answer.api === target.api && answer.provider === target.provider && answer.model === target.model;
  const own = isOwn && !(items && cut);
  const sendable = content.filter((block) => block.type !== "thinking" || (own && isSendable(block, rules)));
  const kept = items ? followed(sendable) : sendable;
  const linked = own && (!items || kept.length === content.length);
  const plain = linked ? kept : kept.map(unsigned);
  const same = plain.length === content.length && plain.every((block, index) => block === content[index]);
  return { content: same ? content : plain, linked };
}

/** Text and calls, with nothing that only their author knows again. */
export function withoutThoughts(content: readonly ContentBlock[]): readonly ContentBlock[] {
  return content.filter(isNoThought).map(unsigned);
}

function isNoThought({ type }: ContentBlock): boolean {
  return type !== "thinking";
}

function isSendable(block: ThinkingBlock, rules: Rules): boolean {
  const { thinkingSignature: signature } = block;
  switch (rules.thoughts) {
    case "own":
      return block.thinking.trim() !== "" || isReal(signature);
    case "signed":
      return isReal(signature);
    case "items":
      return isItem(signature);
    default:
      return false;
  }
}

/** Some programs put the name of a field where the signature belongs. */
function isReal(signature: string | undefined): boolean {
  return signature !== undefined && !/^[a-z_]*$/.test(signature.trim());
}

/** A stored item of OpenAI's Responses, as JSON. */
function isItem(signature: string | undefined): boolean {
  const item = tryParse(signature ?? "");
  return isObject(item) && item.type === "reasoning" && typeof item.id === "string";
}

/** A reasoning item has to be followed by what it led to. */
function followed(blocks: readonly ContentBlock[]): readonly ContentBlock[] {
  const last = blocks.findLastIndex(isNoThought);
  return last === blocks.length - 1 ? blocks : blocks.slice(0, last + 1);
}

/** Without what only its own model can check. */
function unsigned(block: ContentBlock): ContentBlock {
  if (block.type === "toolCall" && "thoughtSignature" in block) {
    const { thoughtSignature: _dropped, ...rest } = block;
    return rest;
  }
  if (block.type !== "text" || block.textSignature === undefined) return block;
  const { textSignature: _dropped, ...rest } = block;
  return rest;
}
