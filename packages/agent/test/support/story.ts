/**
 * A conversation driven by hand: the model is asked, its calls are answered from a map of files, until it answers.
 * No turn, no transcript; what a test wants to go wrong it puts into `answer`.
 */
import type { EntryMessage, ToolCallBlock, ToolResultMessage } from "@holdfast/sessions";
import type { Model, Verdict } from "../../src/types.ts";
import { collect, request, user } from "./requests.ts";

type Answered = Pick<ToolResultMessage, "isError"> & { readonly text: string; readonly verdict?: Verdict };

export class Story {
  readonly messages: EntryMessage[] = [];
  readonly calls: ToolCallBlock[] = [];
  readonly files: Map<string, string>;
  readonly model: Model;
  /** Answers a call instead of the files; undefined leaves it to them. */
  answer: (call: ToolCallBlock) => Answered | undefined = () => undefined;

  constructor(model: Model, files: Readonly<Record<string, string>> = {}) {
    this.model = model;
    this.files = new Map(Object.entries(files));
  }

  /** Says something and goes on until there is an answer; its text. */
  async say(text: string): Promise<string> {
    this.messages.push(user(text));
    return this.goOn();
  }

  /** Asks without saying anything new, as after a restart. */
  async goOn(): Promise<string> {
    for (let step = 0; step < 10; step++) {
      const { answer, text, calls } = await collect(this.model, request(this.messages));
      this.messages.push({ role: "assistant", content: answer.content });
      if (calls.length === 0) return text;
      for (const call of calls) this.settle(call, this.answer(call) ?? this.#run(call));
    }
    throw new Error("no answer after 10 steps");
  }

  /** Asks once and leaves the call without a result, as a kill does. */
  async interrupted(text: string): Promise<ToolCallBlock> {
    this.messages.push(user(text));
    for (let step = 0; step < 10; step++) {
      const { answer, calls } = await collect(this.model, request(this.messages));
      this.messages.push({ role: "assistant", content: answer.content });
      const [call] = calls;
      if (call === undefined) break;
      if (call.name !== "read") return call;
      this.settle(call, this.#run(call));
    }
    throw new Error("no call with an effect");
  }

  settle(call: ToolCallBlock, { text, isError, verdict }: Answered): void {
    this.calls.push(call);
    this.messages.push({
      role: "toolResult",
      toolCallId: call.id,
      toolName: call.name,
      content: [{ type: "text", text }],
      isError,
      ...(verdict === undefined ? {} : { details: { holdfast: { verdict, evidence: {}, synthetic: true } } }),
    });
  }

  #run(call: ToolCallBlock): Answered {
    const path = String(call.arguments.path);
    const text = this.files.get(path);
    if (call.name === "read") {
      return text === undefined ? { text: `ENOENT: no such file: ${path}`, isError: true } : { text, isError: false };
    }
    if (call.name === "exec") return { text: `ran ${String(call.arguments.command)}`, isError: false };
    this.files.set(path, String(call.arguments.content));
    return { text: `wrote ${path}`, isError: false };
  }
}
