/** The stories whose every point is tried. Models answer by how many results they see, so every life of a story is asked alike. */
import { act, say, type ScriptedAnswer, type ScriptedStep } from "@holdfast/agent";
import type { Story } from "./life.ts";

/** Plays the steps, one for each batch of results that is there already. */
function steps(...answers: readonly ScriptedAnswer[]): ScriptedStep {
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
];
