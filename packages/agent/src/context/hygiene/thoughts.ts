/**
 * Thoughts, and the signatures with which a provider knows its own again.
 *
 * Invariant: they go back only to the model that gave them, and only in a form that it can verify; text and calls stay.
 */
import { isObject, tryParse } from "@holdfast/base";
import type { AssistantMessage, ContentBlock, ThinkingBlock } from "@holdfast/sessions";
import { callPart } from "./ids.ts";
import type { Rules, Target } from "./families.ts";

/** The blocks without thoughts that the target cannot take. `cut`: the answer was not finished, so what followed them may be gone. */
export function thoughtsFor(
  answer: AssistantMessage,
  { rules, target, cut }: { readonly rules: Rules; readonly target: Target; readonly cut: boolean },
): readonly ContentBlock[] {
  const { content } = answer;
  if (rules.thoughts === "all") return content;
  const isOwn = answer.api === target.api && answer.provider === target.provider && answer.model === target.model;
  const kept = content.filter((block) => block.type !== "thinking" || (isOwn && isSendable(block, rules)));
  const own = isOwn && !(rules.thoughts === "items" && cut);
  const linked = rules.thoughts === "items" ? followed(own ? kept : kept.filter(isNoThought)) : kept;
  const unlinked = linked.length !== content.length && rules.thoughts === "items";
  const plain = own && !unlinked ? linked : linked.map(unsigned);
  return plain.length === content.length && plain.every((block, index) => block === content[index]) ? content : plain;
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

/** Without what only its own model can check, and without the item's id that ties it to a thought. */
function unsigned(block: ContentBlock): ContentBlock {
  if (block.type === "toolCall") {
    const id = callPart(block.id) === "" ? block.id : callPart(block.id);
    if (!("thoughtSignature" in block)) return id === block.id ? block : { ...block, id };
    const { thoughtSignature: _dropped, ...rest } = block;
    return { ...rest, id };
  }
  if (block.type !== "text" || block.textSignature === undefined) return block;
  const { textSignature: _dropped, ...rest } = block;
  return rest;
}
