/** The stories whose every point is tried. Models answer by how many results they see, so every life of a story is asked alike. */
import { act, type ModelRequest, say, type ScriptedAnswer } from "@holdfast/agent";
import type { Story } from "./story.ts";

export type Asking = Pick<ModelRequest, "messages">;

/** Plays the steps, one for each batch of results that is there already. */
export function steps(...answers: readonly ScriptedAnswer[]): (request: Asking) => ScriptedAnswer {
  return ({ messages }) => {
    const asked = messages.filter(
      ({ role, content }) =>
        role === "assistant" && Array.isArray(content) && content.some(({ type }) => type === "toolCall"),
    ).length;
    return answers[Math.min(asked, answers.length - 1)]!;
  };
}

const one = [{ key: "sim:a:c:1", text: "do it" }];
const two = [...one, { key: "sim:a:c:2", text: "and that" }];

/** Those that several gateways recover at once. */
export const RACED: readonly string[] = ["something nobody can tell", "one file written", "a business act", "a yes"];

export const STORIES: readonly Story[] = [
  { name: "no tool", messages: one, model: steps(say("hello")) },
  { name: "one file written", messages: one, model: steps(act("write", { name: "a", content: "x" }), say("written")) },
  { name: "something nobody can tell", messages: one, model: steps(act("ring", { name: "bell" }), say("rung")) },
  { name: "something that may be repeated", messages: one, model: steps(act("pay", { name: "bill" }), say("paid")) },
  {
    name: "a business act",
    messages: one,
    model: steps(act("ticket", { name: "T" }), act("ticket", { name: "T" }), say("one ticket")),
  },
  {
    name: "three looks at once, then a file",
    messages: one,
    model: steps(
      act("look", { name: "1" }, { tool: "look", args: { name: "2" } }, { tool: "look", args: { name: "3" } }),
      act("write", { name: "a", content: "x" }, { tool: "ring", args: { name: "bell" } }),
      say("done"),
    ),
  },
  {
    name: "a message that steers",
    messages: one,
    meanwhile: [{ key: "sim:a:c:9", text: "metric", mode: "steer" }],
    model: steps(act("slow", { name: "s" }, { tool: "ring", args: { name: "late" } }), say("both")),
  },
  {
    name: "a stop during a call",
    messages: one,
    meanwhile: [{ key: "sim:a:c:9", text: "stop" }],
    model: steps(act("slow", { name: "s" }, { tool: "ring", args: { name: "late" } }), say("never")),
  },
  {
    name: "a command that runs on",
    messages: one,
    model: steps(act("job", { name: "build" }), say("built")),
  },
  {
    name: "two messages",
    messages: two,
    model: steps(act("write", { name: "a", content: "x" }), say("one"), say("two")),
  },
  {
    name: "a yes",
    messages: one,
    model: steps(act("ring", { name: "bell" }), say("rung")),
    approve: ["ring"],
    decision: "yes",
  },
  {
    name: "a no",
    messages: one,
    model: steps(act("ring", { name: "bell" }), say("not rung")),
    approve: ["ring"],
    decision: "no",
  },
  {
    name: "a yes that comes too late",
    messages: one,
    model: steps(act("ring", { name: "bell" }), say("not rung")),
    approve: ["ring"],
    decision: "yes",
    decidesAfterMs: 2 * 86_400_000,
  },
  {
    name: "a yes and a no",
    messages: one,
    model: steps(act("ring", { name: "bell" }, { tool: "ring", args: { name: "alarm" } }), say("one of them")),
    approve: ["ring"],
    decision: (summary) => (summary.includes("bell") ? "yes" : "no"),
  },
  {
    name: "a file that somebody else changes",
    messages: one,
    interferes: true,
    model: steps(act("write", { name: "a", content: "x" }), say("written")),
  },
  {
    name: "a tool that calls itself milder later",
    messages: one,
    laterEffect: "idempotent",
    model: steps(act("ring", { name: "bell" }), say("rung")),
  },
  {
    name: "another home takes over",
    messages: one,
    laterHome: "home-2",
    model: steps(act("write", { name: "a", content: "x" }), say("written")),
  },
  {
    name: "a call that ends the gateway",
    messages: one,
    livesMax: 12,
    model: steps(act("bomb", { name: "b" }), say("never")),
  },
  {
    name: "a yes after another message",
    messages: one,
    whileWaiting: [{ key: "sim:a:c:2", text: "how late is it?" }],
    model: ({ messages }) => {
      if (lastText(messages) === "how late is it?") return say("late");
      return steps(act("ring", { name: "bell" }), say("rung"))({ messages });
    },
    approve: ["ring"],
    decision: "yes",
  },
  {
    name: "a no after another message",
    messages: one,
    whileWaiting: [{ key: "sim:a:c:2", text: "how late is it?" }],
    model: ({ messages }) => {
      if (lastText(messages) === "how late is it?") return say("late");
      return steps(act("ring", { name: "bell" }), say("not rung"))({ messages });
    },
    approve: ["ring"],
    decision: "no",
  },
  {
    name: "messages delivered again",
    messages: two,
    redelivers: true,
    model: steps(act("ring", { name: "bell" }), say("rung"), say("again")),
  },
  {
    name: "a reply that is held when uncertain",
    messages: two,
    platform: { dedupeMs: 0, uncertain: "hold" },
    model: steps(say("hello")),
  },
  {
    name: "a reply that is sent again when uncertain",
    messages: two,
    platform: { dedupeMs: 0, uncertain: "resend" },
    model: steps(say("hello")),
  },
  {
    name: "a reply that its platform knows again",
    messages: two,
    platform: { dedupeMs: Number.POSITIVE_INFINITY },
    model: steps(say("hello")),
  },
  {
    name: "a branch that is left during a call",
    messages: one,
    meanwhile: [{ key: "sim:a:c:2", text: "and here?" }],
    branches: true,
    model: ({ messages }) => {
      if (lastText(messages) !== "do it") return say("here");
      return steps(act("slow", { name: "s" }), say("done"))({ messages });
    },
  },
];

/** What its sender wrote: the last block, below the envelope. */
function lastText(messages: ModelRequest["messages"]): string {
  const last = messages.findLast(({ role }) => role === "user");
  const block = Array.isArray(last?.content) ? last.content.at(-1) : undefined;
  return block?.type === "text" ? String(block.text) : String(last?.content);
}
