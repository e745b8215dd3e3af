/**
 * Calls and results: one result for each call, right behind its answer, in the order of the calls, under one id.
 *
 * Providers refuse anything else, and a conversation that cannot be sent any more is as good as lost.
 * Invariant: a result that is not on record is told as that; it claims neither success nor failure.
 */
import type { AssistantMessage, ContentBlock, EntryMessage, ToolResultMessage } from "@holdfast/sessions";
import { callPart, type IdRule, takeId } from "./ids.ts";
import { isAnswer, isResult, type Note, type Part, text } from "./parts.ts";

export const MISSING = "No result of this call is on record. That does not say that it failed.";

/** Where each id is called and answered, as places in the list. */
interface Places {
  readonly calls: ReadonlyMap<string, readonly number[]>;
  readonly results: ReadonlyMap<string, readonly number[]>;
}

export function paired(parts: readonly Part[], rule: IdRule, note: Note): readonly Part[] {
  const places = placesOf(parts);
  const used = new Set<number>();
  const taken = new Set<string>();
  const ordered: Part[] = [];
  for (const [at, part] of parts.entries()) {
    if (isResult(part.message)) continue;
    if (!isAnswer(part.message)) {
      ordered.push(part);
      continue;
    }
    const results = resultsOf(part.message, { at, parts, places, used });
    ordered.push(...renamed({ ...part, message: part.message }, results, { rule, taken, note }));
  }
  for (const [at, part] of parts.entries())
    if (isResult(part.message) && !used.has(at)) note(part.from, "result_of_no_call");
  return ordered;
}

function placesOf(parts: readonly Part[]): Places {
  const calls = new Map<string, number[]>();
  const results = new Map<string, number[]>();
  for (const [at, { message }] of parts.entries()) {
    if (isResult(message)) push(results, message.toolCallId, at);
    if (isAnswer(message)) for (const id of new Set(idsOf(message.content))) push(calls, id, at);
  }
  return { calls, results };
}

function push(places: Map<string, number[]>, id: string, at: number): void {
  const there = places.get(id);
  if (there === undefined) places.set(id, [at]);
  else there.push(at);
}

function idsOf(content: readonly ContentBlock[]): readonly string[] {
  return content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}

interface Looking {
  readonly at: number;
  readonly parts: readonly Part[];
  readonly places: Places;
  readonly used: Set<number>;
}

/** After the answer and before the id is used again; of calls with one id the first gets the first result, and so on. */
function resultsOf(answer: AssistantMessage, { at, parts, places, used }: Looking): readonly Part<ToolResultMessage>[] {
  const given = new Map<string, number>();
  return answer.content.flatMap((block) => {
    if (block.type !== "toolCall") return [];
    const nth = given.get(block.id) ?? 0;
    given.set(block.id, nth + 1);
    const until = places.calls.get(block.id)?.find((place) => place > at) ?? parts.length;
    const there = (places.results.get(block.id) ?? []).filter((place) => place > at && place < until)[nth];
    const found = there === undefined ? undefined : parts[there];
    if (there === undefined || found === undefined || !isResult(found.message)) {
      const missing: ToolResultMessage = {
        role: "toolResult",
        toolCallId: block.id,
        toolName: block.name,
        content: [text(MISSING)],
        isError: true,
      };
      return [{ message: missing, from: null }];
    }
    used.add(there);
    return [{ message: found.message, from: found.from }];
  });
}

interface Naming {
  readonly rule: IdRule;
  readonly taken: Set<string>;
  readonly note: Note;
}

/** The answer and its results under ids that the provider takes and nothing before them has. */
function renamed(
  { message: answer, from, linked = true }: Part<AssistantMessage>,
  results: readonly Part<ToolResultMessage>[],
  { rule, taken, note }: Naming,
): readonly Part[] {
  const names: { readonly id: string; readonly name: string }[] = [];
  const content = answer.content.map((block) => {
    if (block.type !== "toolCall") return block;
    const id = takeId(linked ? block.id : callPart(block.id) || block.id, rule, taken);
    names.push({ id, name: block.name });
    return id === block.id ? block : { ...block, id };
  });
  const same = content.every((block, index) => block === answer.content[index]);
  if (!same) note(from, "call_id");
  const named = results.map((part, index): Part => {
    const { message } = part;
    const { id, name } = names[index] ?? { id: message.toolCallId, name: message.toolName };
    if (part.from === null) note(null, `no_result: ${name}`);
    const fits = id === message.toolCallId && name === message.toolName;
    return fits ? part : { ...part, message: { ...message, toolCallId: id, toolName: name } };
  });
  const said: EntryMessage = same ? answer : { ...answer, content };
  return [{ message: said, from }, ...named];
}
