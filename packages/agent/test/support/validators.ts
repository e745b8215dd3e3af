/**
 * What each provider refuses, written from its documented rules and the texts of its refusals. A validator gets the body of
 * a request as it would go over the wire and says what is wrong with it; nothing: it would be taken.
 *
 * - OpenAI Chat Completions: each `tool_calls` is answered by `tool` messages right behind it, ids have at most 40 characters,
 *   an assistant says or calls something.
 * - OpenAI Responses: an output for each call and a call for each output; a reasoning item is followed by its item; ids have
 *   at most 64 characters and are there once.
 * - Anthropic Messages: a user first and last; text is not blank; `tool_use` ids are `[a-zA-Z0-9_-]+` and there once; their
 *   results come first in the next message; thoughts carry a signature of the same model; pictures have limits.
 * - Gemini: a call comes right after a user's turn, as many responses as calls right after it; no part is empty.
 * - Mistral: ids of nine letters or digits; after results an answer, never a user; the last is a user or a result.
 */
import { isObject, type JsonObject } from "@holdfast/base";
import type { WireApi } from "./wire.ts";

type Fields = Readonly<Record<string, unknown>>;
export type Problems = readonly string[];

const fields = (value: unknown): Fields => (isObject(value) ? value : {});
const list = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.map(fields) : []);

export function problemsOf(body: JsonObject, api: WireApi): Problems {
  return [...VALIDATORS[api](body), ...unreadable(body)];
}

function unreadable(value: unknown): Problems {
  if (typeof value === "string") {
    if (!value.isWellFormed()) return ["half a character"];
    return value.includes("\0") ? ["a NUL"] : [];
  }
  if (Array.isArray(value)) return value.flatMap(unreadable);
  return isObject(value)
    ? Object.entries(value).flatMap(([name, member]) => [...unreadable(name), ...unreadable(member)])
    : [];
}

function isBlank(text: unknown): boolean {
  return typeof text !== "string" || text.trim() === "";
}

const NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;

// ---------------------------------------------------------------------------------------------------- chat completions

interface ChatRules {
  readonly id: RegExp;
  /** Mistral's order. */
  readonly strict: boolean;
  readonly imagesMax: number;
}

const COMPLETIONS: ChatRules = { id: /^.{1,40}$/su, strict: false, imagesMax: 500 };
const MISTRAL: ChatRules = { id: /^[a-zA-Z0-9]{9}$/, strict: true, imagesMax: 8 };

const idOf = (message: Fields): unknown => message.tool_call_id ?? message.toolCallId;
const callsOf = (message: Fields): readonly Fields[] => list(message.tool_calls ?? message.toolCalls);

export function chatProblems(body: JsonObject, rules: ChatRules): Problems {
  const messages = list(body.messages);
  const problems: string[] = messages.length === 0 ? ["no messages"] : [];
  const seen = new Set<unknown>();
  let open: unknown[] = [];
  let images = 0;
  for (const [at, message] of messages.entries()) {
    const say = (what: string): void => void problems.push(`message ${at} (${String(message.role)}): ${what}`);
    if (message.role !== "tool" && open.length > 0) say(`calls without a result before it: ${open.join(", ")}`);
    if (message.role !== "tool") open = [];
    if (message.role === "tool") {
      if (!open.includes(idOf(message))) say(`a result of no call right before it: ${String(idOf(message))}`);
      open = open.filter((id) => id !== idOf(message));
    }
    if (message.role === "system" && at > 0) say("a system message that is not the first");
    const calls = callsOf(message);
    for (const call of calls) {
      if (!rules.id.test(String(call.id))) say(`id ${String(call.id)}`);
      if (seen.has(call.id)) say(`id ${String(call.id)} is there twice`);
      seen.add(call.id);
      problems.push(...callProblems(fields(call.function)));
      open.push(call.id);
    }
    if (calls.length === 0 || message.content !== null) problems.push(...contentProblems(message, calls.length > 0));
    images += list(message.content).filter((part) => part.type === "image_url").length;
    if (rules.strict) problems.push(...orderProblems(messages[at - 1], message, at));
  }
  if (open.length > 0) problems.push(`calls without a result at the end: ${open.join(", ")}`);
  if (images > rules.imagesMax) problems.push(`${images} pictures`);
  if (rules.strict && !["user", "tool"].includes(String(messages.at(-1)?.role)))
    problems.push("Expected last role User or Tool");
  return problems;
}

function callProblems({ name, arguments: args }: Fields): Problems {
  const problems = NAME.test(String(name)) ? [] : [`function name ${String(name)}`];
  try {
    return isObject(JSON.parse(String(args))) ? problems : [...problems, "arguments are no object"];
  } catch {
    return [...problems, "arguments are no JSON"];
  }
}

function contentProblems({ role, content }: Fields, calls: boolean): Problems {
  if (typeof content === "string") return content.trim() === "" && !calls ? [`${String(role)}: blank content`] : [];
  const parts = list(content);
  if (parts.length === 0) return calls ? [] : [`${String(role)}: no content`];
  return parts.flatMap((part) => {
    if (part.type === "text") return isBlank(part.text) ? [`${String(role)}: a blank text part`] : [];
    if (part.type !== "image_url") return [];
    const url = part.imageUrl ?? fields(part.image_url).url;
    return /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*$/.test(String(url)) ? [] : ["a picture's URL"];
  });
}

/** "Unexpected role 'user' after role 'tool'", and conversation roles that must alternate. */
function orderProblems(before: Fields | undefined, message: Fields, at: number): Problems {
  const leads = (role: unknown): boolean => role === "system" || role === "developer";
  if (before === undefined || leads(before.role))
    return message.role === "user" || leads(message.role) ? [] : [`begins with ${String(message.role)}`];
  const allowed: Readonly<Record<string, readonly string[]>> = {
    user: ["assistant"],
    assistant: ["user", "tool"],
    tool: ["assistant", "tool"],
  };
  const fits = allowed[String(before.role)]?.includes(String(message.role)) ?? false;
  return fits ? [] : [`message ${at}: Unexpected role '${String(message.role)}' after role '${String(before.role)}'`];
}

// ----------------------------------------------------------------------------------------------------------- responses

function responsesProblems(body: JsonObject): Problems {
  const items = list(body.input);
  const problems: string[] = items.length === 0 ? ["no input"] : [];
  const calls = new Set<unknown>();
  const answered = new Set<unknown>();
  const ids = new Set<unknown>();
  for (const [at, item] of items.entries()) {
    const say = (what: string): void => void problems.push(`item ${at} (${String(item.type ?? item.role)}): ${what}`);
    if (item.id !== undefined) {
      if (String(item.id).length > 64) say("an id of more than 64 characters");
      if (ids.has(item.id)) say(`id ${String(item.id)} is there twice`);
      ids.add(item.id);
    }
    if (item.type === "function_call") {
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(item.call_id))) say(`call_id ${String(item.call_id)}`);
      if (calls.has(item.call_id)) say(`call_id ${String(item.call_id)} is there twice`);
      if (item.id !== undefined && !String(item.id).startsWith("fc_")) say(`id ${String(item.id)}`);
      calls.add(item.call_id);
      problems.push(...callProblems(item));
    }
    if (item.type === "function_call_output") {
      if (!calls.has(item.call_id)) say("No tool call found for function call output");
      if (answered.has(item.call_id)) say("a second output");
      answered.add(item.call_id);
      if (Array.isArray(item.output) ? item.output.length === 0 : isBlank(item.output)) say("an empty output");
    }
    if (item.type === "reasoning" && !isFollowed(items.slice(at + 1)))
      say("was provided without its required following item");
    if (item.role !== undefined && item.role !== "system" && item.role !== "developer") {
      const parts = list(item.content);
      if (parts.length === 0 || parts.some((part) => "text" in part && isBlank(part.text))) say("blank content");
    }
  }
  for (const id of calls) if (!answered.has(id)) problems.push(`No tool output found for function call ${String(id)}`);
  return problems;
}

function isFollowed(after: readonly Fields[]): boolean {
  const next = after.find((item) => item.type !== "reasoning");
  return next !== undefined && (next.type === "function_call" || next.role === "assistant");
}

// ----------------------------------------------------------------------------------------------------------- anthropic

const ANTHROPIC_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

function anthropicProblems(body: JsonObject): Problems {
  const messages = list(body.messages);
  const problems: string[] = [];
  if (messages[0]?.role !== "user") problems.push("first message must use the user role");
  if (messages.at(-1)?.role !== "user") problems.push("the conversation must end with a user message");
  const ids = new Set<unknown>();
  let images = 0;
  for (const [at, message] of messages.entries()) {
    const say = (what: string): void => void problems.push(`messages.${at}: ${what}`);
    if (typeof message.content === "string" && isBlank(message.content)) say("blank content");
    const blocks = typeof message.content === "string" ? [] : list(message.content);
    if (typeof message.content !== "string" && blocks.length === 0) say("all messages must have non-empty content");
    const uses = blocks.filter((block) => block.type === "tool_use");
    const results = list(messages[at + 1]?.content).filter((block) => block.type === "tool_result");
    for (const use of uses) {
      if (!/^[a-zA-Z0-9_-]+$/.test(String(use.id))) say(`tool_use.id ${String(use.id)}`);
      if (ids.has(use.id)) say("`tool_use` ids must be unique");
      ids.add(use.id);
      if (!NAME.test(String(use.name))) say(`name ${String(use.name)}`);
      if (!isObject(use.input)) say("input is no object");
      if (results.filter((result) => result.tool_use_id === use.id).length !== 1)
        say("`tool_use` ids were found without `tool_result` blocks immediately after");
    }
    const before = list(messages[at - 1]?.content);
    for (const [index, block] of blocks.entries()) {
      if (block.type === "text" && isBlank(block.text)) say("text content blocks must contain non-whitespace text");
      if (block.type === "thinking" && isBlank(block.signature)) say("thinking without a signature");
      if (block.type === "image") images += 1;
      if (block.type === "image" && !isAnthropicImage(block)) say("a picture that is not taken");
      if (block.type !== "tool_result") continue;
      if (!before.some((one) => one.type === "tool_use" && one.id === block.tool_use_id))
        say("unexpected `tool_use_id` found in `tool_result` blocks");
      if (blocks.slice(0, index).some((one) => one.type !== "tool_result")) say("tool_result blocks must come first");
      const inside = list(block.content);
      images += inside.filter((one) => one.type === "image").length;
      if (inside.some((one) => one.type === "text" && isBlank(one.text))) say("a blank text in a result");
      if (block.is_error === true && inside.some((one) => one.type !== "text")) say("an error result is text only");
    }
  }
  if (images > 100) problems.push(`${images} pictures`);
  return problems;
}

function isAnthropicImage(block: Fields): boolean {
  const { media_type: type, data } = fields(block.source);
  return ANTHROPIC_TYPES.includes(String(type)) && String(data).length <= 5 * 1024 * 1024 && String(data).length > 0;
}

// -------------------------------------------------------------------------------------------------------------- google

function googleProblems(body: JsonObject): Problems {
  const contents = list(body.contents);
  const problems: string[] = [];
  if (contents[0]?.role !== "user") problems.push("the first content is not the user's");
  if (contents.at(-1)?.role !== "user") problems.push("the last content is not the user's");
  const responsesIn = (content: Fields | undefined) =>
    list(content?.parts).filter((part) => "functionResponse" in part);
  const callsIn = (content: Fields | undefined) => list(content?.parts).filter((part) => "functionCall" in part);
  for (const [at, content] of contents.entries()) {
    const say = (what: string): void => void problems.push(`contents.${at}: ${what}`);
    const parts = list(content.parts);
    if (parts.length === 0) say("must include at least one parts field");
    for (const part of parts) {
      if (Object.keys(part).every((name) => name === "text") && isBlank(part.text)) say("an empty text");
      const { mimeType } = fields(part.inlineData);
      if (mimeType !== undefined && !["image/png", "image/jpeg", "image/webp"].includes(String(mimeType)))
        say(`${String(mimeType)} is not supported`);
      if (part.thoughtSignature !== undefined && !/^[A-Za-z0-9+/]+=*$/.test(String(part.thoughtSignature)))
        say("a thought signature that is not valid");
    }
    const [calls, next] = [callsIn(content), responsesIn(contents[at + 1])];
    if (calls.length > 0 && contents[at - 1]?.role !== "user")
      say("a function call turn comes immediately after a user turn or after a function response turn");
    if (calls.length !== next.length)
      say(
        "the number of function response parts is equal to the number of function call parts of the function call turn",
      );
    for (const [index, call] of calls.entries()) {
      const [asked, given] = [fields(call.functionCall), fields(next[index]?.functionResponse)];
      if (!NAME.test(String(asked.name))) say(`name ${String(asked.name)}`);
      if (asked.name !== given.name || asked.id !== given.id) say("a response to another call");
    }
    if (content.role === "model" && contents[at - 1]?.role === "model") say("two turns of the model in a row");
  }
  if (responsesIn(contents[0]).length > 0) problems.push("begins with a function response");
  return problems;
}

const VALIDATORS: Readonly<Record<WireApi, (body: JsonObject) => Problems>> = {
  "openai-completions": (body) => chatProblems(body, COMPLETIONS),
  "openai-responses": responsesProblems,
  "anthropic-messages": anthropicProblems,
  "google-generative-ai": googleProblems,
  "mistral-conversations": (body) => chatProblems(body, MISTRAL),
};

/** What Mistral's own models refuse behind an address that speaks OpenAI's protocol. */
export function chatOrder(body: JsonObject): Problems {
  return chatProblems(body, MISTRAL);
}
