/**
 * Our request in the library's form, and its answer in ours. Both sides share Pi's message shapes, so this is mostly
 * filling in what the library insists on and turning the roles of other programs into plain user messages.
 * Invariant: nothing that was said is dropped silently; only roles that no provider knows are.
 */
import type * as pi from "@earendil-works/pi-ai";
import type { JsonObject } from "@holdfast/base";
import type {
  AssistantMessage,
  ContentBlock,
  EntryMessage,
  ToolCallBlock,
  ToolResultMessage,
  UserMessage,
} from "@holdfast/sessions";
import { foreignContent } from "../../context/hygiene/foreign.ts";
import type { ModelRequest } from "../../types.ts";

const NO_USAGE: pi.Usage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

function isUser(message: EntryMessage): message is UserMessage {
  return message.role === "user";
}
function isAssistant(message: EntryMessage): message is AssistantMessage {
  return message.role === "assistant" && Array.isArray(message.content);
}
function isResult(message: EntryMessage): message is ToolResultMessage {
  return message.role === "toolResult" && Array.isArray(message.content);
}

function seen(blocks: readonly ContentBlock[]): (pi.TextContent | pi.ImageContent)[] {
  return blocks.filter((block) => block.type === "text" || block.type === "image").map((block) => ({ ...block }));
}

/** Text alone goes as a plain string, which every server takes; lists of blocks are not understood by all. */
function userMessage(blocks: readonly (pi.TextContent | pi.ImageContent)[], timestamp: number): pi.UserMessage {
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const content = texts.length > 0 && texts.length === blocks.length ? texts.join("\n") : [...blocks];
  return { role: "user", content, timestamp };
}

function piAssistant(message: AssistantMessage, timestamp: number): pi.AssistantMessage {
  const content = message.content.flatMap((block): pi.AssistantMessage["content"] => {
    if (block.type === "image") return [];
    return [block.type === "toolCall" ? piCall(block) : { ...block }];
  });
  return {
    role: "assistant",
    content,
    api: message.api ?? "unknown",
    provider: message.provider ?? "unknown",
    model: message.model ?? "unknown",
    usage: NO_USAGE,
    stopReason: message.stopReason ?? "stop",
    timestamp,
  };
}

function piCall(call: ToolCallBlock): pi.ToolCall {
  // The arguments came from JSON and are only sent back as JSON.
  return {
    type: "toolCall",
    id: call.id,
    name: call.name,
    arguments: structuredClone(call.arguments) as pi.JsonObject,
  };
}

function piMessages(message: EntryMessage): pi.Message[] {
  const timestamp = typeof message.timestamp === "number" ? message.timestamp : 0;
  if (isAssistant(message)) return [piAssistant(message, timestamp)];
  if (isResult(message)) {
    const { toolCallId, toolName, isError } = message;
    return [{ role: "toolResult", toolCallId, toolName, isError, content: seen(message.content), timestamp }];
  }
  if (isUser(message)) {
    if (typeof message.content === "string") return [{ role: "user", content: message.content, timestamp }];
    return [userMessage(seen(message.content), timestamp)];
  }
  const content = foreignContent(message);
  if (typeof content !== "string") return [userMessage(seen(content), timestamp)];
  return content === "" ? [] : [{ role: "user", content, timestamp }];
}

export function piContext(request: ModelRequest): pi.Context {
  return {
    systemPrompt: request.system,
    messages: request.messages.flatMap(piMessages),
    tools: request.tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
  };
}

/** The answer's blocks. Calls without an id of their own, or with one that is taken, get one. */
export function contentOf(message: pi.AssistantMessage): readonly ContentBlock[] {
  const taken = new Set<string>();
  return message.content.map((block, index): ContentBlock => {
    if (block.type !== "toolCall") return { ...block };
    const id = block.id === "" || taken.has(block.id) ? `call_${index}_${block.name}` : block.id;
    taken.add(id);
    const error = block.argumentsError === undefined ? {} : { argumentsError: block.argumentsError };
    return { type: "toolCall", id, name: block.name, arguments: block.arguments, ...error };
  });
}

/** Token counts and cost, or null when the provider said nothing. */
export function usageOf({ usage }: pi.AssistantMessage): JsonObject | null {
  return usage.totalTokens === 0 && usage.input === 0 && usage.output === 0 ? null : JSON.parse(JSON.stringify(usage));
}
