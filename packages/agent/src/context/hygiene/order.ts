/**
 * Who speaks after whom. Some providers want a person first and last, roles that alternate, and an answer between results
 * and the next message.
 *
 * Invariant: everything that was said stays, in its order; what is put in between says nothing of its own.
 */
import type { AssistantMessage, ContentBlock, EntryMessage, UserMessage } from "@holdfast/sessions";
import { foreignContent } from "./foreign.ts";
import type { Rules } from "./families.ts";
import { withoutThoughts } from "./thoughts.ts";
import { isAnswer, isResult, isUser, type Note, type Part, text } from "./parts.ts";

const FIRST = "(The conversation before this is not shown.)";
const LAST = "(Go on.)";
const BETWEEN = "(The results are noted.)";

export function ordered(parts: readonly Part[], rules: Rules, note: Note): readonly Part[] {
  const joined = rules.alternates ? alternating(parts, note) : parts;
  const answered = rules.answersResults ? withAnswers(joined, note) : joined;
  return rules.userFirst ? betweenPeople(answered, note) : answered;
}

function alternating(parts: readonly Part[], note: Note): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const before = joined.at(-1);
    const message = before === undefined ? undefined : together(before.message, part.message);
    if (before === undefined || message === undefined) {
      joined.push(part);
      continue;
    }
    note(part.from, "joined");
    joined[joined.length - 1] = { message, from: part.from ?? before.from };
  }
  return joined;
}

/** Two neighbours as one, or undefined where they are none of one kind. */
function together(before: EntryMessage, after: EntryMessage): EntryMessage | undefined {
  if (isUser(before) && isUser(after)) return usersTogether(before, after);
  if (!isAnswer(before) || !isAnswer(after)) return undefined;
  const joined = [...before.content, ...after.content];
  // A message has one author, and only its author's thoughts.
  const answer: AssistantMessage = {
    ...after,
    content: isSameAuthor(before, after) ? joined : withoutThoughts(joined),
  };
  return answer;
}

function isSameAuthor(one: AssistantMessage, other: AssistantMessage): boolean {
  return one.api === other.api && one.provider === other.provider && one.model === other.model;
}

function usersTogether(before: UserMessage, after: UserMessage): UserMessage {
  return { ...after, content: [...blocksOf(before.content), ...blocksOf(after.content)] };
}

function blocksOf(content: UserMessage["content"]): readonly ContentBlock[] {
  return typeof content === "string" ? [text(content)] : content;
}

function withAnswers(parts: readonly Part[], note: Note): readonly Part[] {
  return parts.flatMap((part, at): Part[] => {
    const before = parts[at - 1];
    if (before === undefined || !isResult(before.message) || !isUser(part.message)) return [part];
    note(null, "answer_put_in");
    return [{ message: { role: "assistant", content: [text(BETWEEN)] }, from: null }, part];
  });
}

function betweenPeople(parts: readonly Part[], note: Note): readonly Part[] {
  const speaks = parts.filter(({ message }) => isAnswer(message) || isResult(message) || isPerson(message));
  const [first, last] = [speaks[0], speaks.at(-1)];
  const before: Part[] = first !== undefined && isAnswer(first.message) ? [said(FIRST)] : [];
  const after: Part[] = last !== undefined && isAnswer(last.message) ? [said(LAST)] : [];
  if (before.length > 0) note(null, "begins_with_an_answer");
  if (after.length > 0) note(null, "ends_with_an_answer");
  return before.length + after.length === 0 ? parts : [...before, ...parts, ...after];
}

function isPerson(message: EntryMessage): boolean {
  return isUser(message) || foreignContent(message) !== "";
}

function said(content: string): Part {
  return { message: { role: "user", content }, from: null };
}
