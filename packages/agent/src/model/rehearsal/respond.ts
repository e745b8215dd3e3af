/**
 * From a conversation to the next move: which wish is meant, what was settled after an interruption, what comes first.
 * Pure. Invariant: the first answer after recovered results mentions each of them, before anything else.
 */
import { assertNever } from "@holdfast/base";
import type { ModelRequest } from "../../types.ts";
import { type Conversation, isFinalAnswer, isUser, readConversation, type Step, textOf } from "./conversation.ts";
import { type Intent, isTask, type Task, understand } from "./intents.ts";
import { type Move, plan } from "./plans.ts";
import type { Words } from "./words.ts";
import { ENGLISH } from "./words-en.ts";
import { CHINESE } from "./words-zh.ts";

interface Wish {
  readonly task: Task;
  readonly steps: readonly Step[];
}

const isOpen = (step: Step): boolean => step.failed && (step.verdict === "unknown" || step.verdict === "conflict");

/** The wish that is being carried out, with what counts as done for it; null when there is none. */
function wishOf(intent: Intent, conversation: Conversation): Wish | null {
  const { steps, saidAt } = conversation;
  const since = steps.filter((step) => step.at > saidAt);
  if (isTask(intent)) return { task: intent, steps: since };
  if (intent.kind !== "continue" && intent.kind !== "again") return null;
  return earlierWish(intent.kind, since, conversation);
}

/** "Continue" takes up what has no answer or failed, "again" the last wish: whatever succeeded is not done twice. */
function earlierWish(how: "continue" | "again", since: readonly Step[], conversation: Conversation): Wish | null {
  const { messages, steps, saidAt } = conversation;
  const from = messages.findLastIndex((m, at) => at < saidAt && isUser(m) && isTask(understand(textOf(m))));
  const asked = messages[from];
  const task = asked === undefined ? null : understand(textOf(asked));
  if (task === null || !isTask(task)) return null;
  const before = steps.filter((step) => step.at > from && step.at < saidAt);
  const failedLast = before.at(-1)?.failed === true;
  if (how === "again") return { task, steps: [...(failedLast ? before.filter((step) => !step.failed) : []), ...since] };
  const answered = messages.slice(from, saidAt).some(isFinalAnswer);
  if (answered && !failedLast) return null;
  return { task, steps: [...before.filter((step) => !step.failed || isOpen(step)), ...since] };
}

/** What an action did, for people: its tool and its target. */
function actionOf(step: Step): string {
  const target = step.args.path ?? step.args.command;
  return typeof target === "string" ? `\`${step.tool} ${target}\`` : `\`${step.tool}\``;
}

function report(intent: Intent, conversation: Conversation, words: Words): string | null {
  const recovered = conversation.steps.filter((step) => step.verdict !== null);
  const told =
    conversation.unreported.length > 0 ? conversation.unreported : intent.kind === "continue" ? recovered : [];
  if (told.length === 0) return null;
  return [words.settledHeading, ...told.map((step) => words.settled(actionOf(step), step))].join("\n");
}

function talk(kind: Exclude<Intent, Task>["kind"], words: Words): string {
  switch (kind) {
    case "continue":
      return words.nothingOpen;
    case "again":
      return words.nothingToRetry;
    case "outside":
      return words.outside;
    case "about":
      return words.about;
    case "help":
      return words.help;
    case "greet":
      return words.greeting;
    case "other":
      return words.fallback;
    default:
      return assertNever(kind);
  }
}

function moveFor(intent: Intent, wish: Wish | null, conversation: Conversation, words: Words): Move {
  if (wish === null) return { kind: "say", text: isTask(intent) ? words.fallback : talk(intent.kind, words) };
  const open = wish.steps.at(-1);
  if (open !== undefined && isOpen(open)) return { kind: "say", text: words.undecided(actionOf(open)) };
  const move = plan(wish.task, { words, conversation, steps: wish.steps });
  if (move.kind === "call" && !conversation.tools.has(move.tool)) return { kind: "say", text: words.noTool(move.tool) };
  return move;
}

/** The rehearsal's next move: a function of the request and nothing else. `notice`: its first answer says what it is. */
export function respond(request: ModelRequest, { notice }: { readonly notice: boolean }): Move {
  const conversation = readConversation(request);
  const words = conversation.language === "zh" ? CHINESE : ENGLISH;
  const intent: Intent = conversation.saidAt < 0 ? { kind: "greet" } : understand(conversation.said);
  const move = moveFor(intent, wishOf(intent, conversation), conversation, words);
  if (move.kind === "call") return move;
  const parts = [report(intent, conversation, words), move.text];
  if (notice && conversation.first && !["about", "help", "greet", "other"].includes(intent.kind))
    parts.push(words.notice);
  return { kind: "say", text: parts.filter((part) => part !== null).join("\n\n") };
}
