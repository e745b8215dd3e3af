/** Requests and collected deltas for tests of models. */
import type { EntryMessage, ToolCallBlock } from "@holdfast/sessions";
import type { Model, ModelAnswer, ModelDelta, ModelRequest, ToolSpec } from "../../src/types.ts";

const path = { type: "object", properties: { path: { type: "string" } }, required: ["path"] } as const;
/** The names of the built-in tools, with parameters as small as possible. */
export const SPECS: readonly ToolSpec[] = ["read", "write", "edit", "exec"].map((name) => ({
  name,
  description: name,
  parameters: path,
}));

export function request(messages: readonly EntryMessage[], tools: readonly ToolSpec[] = SPECS): ModelRequest {
  return { system: "You help.", messages, tools, sessionId: "s-1" };
}

export function user(text: string): EntryMessage {
  return { role: "user", content: [{ type: "text", text }] };
}

export interface Collected {
  readonly answer: ModelAnswer;
  readonly deltas: readonly ModelDelta[];
  readonly text: string;
  readonly calls: readonly ToolCallBlock[];
}

/** Asks and collects everything that was said. */
export async function collect(
  model: Model,
  asked: ModelRequest,
  signal = new AbortController().signal,
): Promise<Collected> {
  const deltas: ModelDelta[] = [];
  const answer = await model.ask(asked, { signal, onDelta: (delta) => deltas.push(delta) });
  const text = answer.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  const calls = answer.content.filter((block) => block.type === "toolCall");
  return { answer, deltas, text, calls };
}
