/**
 * A model that plays a script: for tests, demonstrations and trying out tools without a provider.
 * It answers from a list (one step per question) or from a function of the request, and remembers what it was asked.
 * Invariant: call ids count the calls in the request, so a script that is played again after a restart repeats none.
 */
import { assertNever, type World } from "@holdfast/base";
import type { ContentBlock } from "@holdfast/sessions";
import type { Model, ModelAnswer, ModelFailureCode, ModelRequest } from "../types.ts";
import {
  type AskOptions,
  abortedAnswer,
  callsIn,
  failedAnswer,
  finishedAnswer,
  modelFailure,
  type Pace,
  splitName,
  streamBlocks,
} from "./answers.ts";

export interface ScriptedCall {
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}
export type ScriptedAnswer =
  | { readonly kind: "answer"; readonly text: string; readonly calls: readonly ScriptedCall[] }
  | {
      readonly kind: "failed";
      readonly code: ModelFailureCode;
      readonly message: string;
      readonly status: number | null;
      readonly retryAfterMs: number | null;
      /** Text that is shown before it fails. */
      readonly after: string;
    }
  /** Shows the text, then nothing more until the signal aborts. */
  | { readonly kind: "stalled"; readonly text: string };
export type ScriptedStep = ScriptedAnswer | ((request: ModelRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

/** Answers with text. */
export function say(text: string): ScriptedAnswer {
  return { kind: "answer", text, calls: [] };
}

/** Calls a tool, or several: `act("read", { path: "a" }, { tool: "read", args: { path: "b" } })`. */
export function act(tool: string, args: ScriptedCall["args"] = {}, ...more: readonly ScriptedCall[]): ScriptedAnswer {
  return { kind: "answer", text: "", calls: [{ tool, args }, ...more] };
}

/** Says something and calls tools in the same answer. */
export function sayAndAct(text: string, ...calls: readonly ScriptedCall[]): ScriptedAnswer {
  return { kind: "answer", text, calls };
}

/** Fails as a provider would. */
export function failed(
  code: ModelFailureCode,
  more: {
    readonly message?: string;
    readonly status?: number;
    readonly retryAfterMs?: number;
    readonly after?: string;
  } = {},
): ScriptedAnswer {
  const { message = `scripted failure: ${code}`, status = null, retryAfterMs = null, after = "" } = more;
  return { kind: "failed", code, message, status, retryAfterMs, after };
}

/** Shows `text` (none by default) and then hangs until it is aborted. */
export function stalled(text = ""): ScriptedAnswer {
  return { kind: "stalled", text };
}

export interface ScriptedOptions {
  /** `provider/model`; `scripted/script` by default. */
  readonly name?: string;
  /** Needed for pauses only. */
  readonly world?: World;
  /** Code points per streamed piece; the whole text at once by default. */
  readonly pieceChars?: number;
  readonly pauseMs?: number;
}
export interface ScriptedModel extends Model {
  /** Deep copies of what it was asked, in order. */
  readonly requests: readonly ModelRequest[];
  /** How many steps of the list are left; null when the script is a function. */
  remaining(): number | null;
}

/**
 * Plays `script`: a list is used up one step per question, and the question after the last gets a `bad_request` failure
 * that says so; a function is asked every time.
 */
export function scriptedModel(
  script: readonly ScriptedStep[] | Exclude<ScriptedStep, ScriptedAnswer>,
  options: ScriptedOptions = {},
): ScriptedModel {
  if (options.pauseMs !== undefined && options.world === undefined) {
    throw new TypeError("scriptedModel: pauseMs needs a world");
  }
  const name = options.name ?? "scripted/script";
  const by = { ...splitName(name), api: "scripted" };
  const requests: ModelRequest[] = [];
  const next = (): ScriptedStep => {
    if (typeof script === "function") return script;
    const asked = requests.length;
    return script[asked - 1] ?? exhausted(script.length, asked);
  };
  return {
    name,
    api: by.api,
    requests,
    remaining: () => (typeof script === "function" ? null : Math.max(0, script.length - requests.length)),
    async ask(request, ask) {
      requests.push(structuredClone(request));
      const step = next();
      if (ask.signal.aborted) return abortedAnswer(by, []);
      const answer = typeof step === "function" ? await step(request) : step;
      return play(answer, request, { by, pace: options, ask });
    },
  };
}

function exhausted(steps: number, asked: number): ScriptedAnswer {
  return failed("bad_request", { message: `The script has ${steps} steps and was asked ${asked} times; add a step.` });
}

async function play(
  answer: ScriptedAnswer,
  request: ModelRequest,
  { by, pace, ask }: { readonly by: ModelAnswer["by"]; readonly pace: Pace; readonly ask: AskOptions },
): Promise<ModelAnswer> {
  const { shown, aborted } = await streamBlocks(blocksOf(answer, request), pace, ask);
  if (aborted) return abortedAnswer(by, shown);
  switch (answer.kind) {
    case "answer":
      return finishedAnswer(by, shown);
    case "failed":
      return failedAnswer(by, modelFailure(answer.code, answer.message, answer), shown);
    case "stalled":
      await untilAborted(ask.signal);
      return abortedAnswer(by, shown);
    default:
      return assertNever(answer);
  }
}

function blocksOf(answer: ScriptedAnswer, request: ModelRequest): readonly ContentBlock[] {
  const text = answer.kind === "failed" ? answer.after : answer.text;
  const blocks: ContentBlock[] = text === "" ? [] : [{ type: "text", text }];
  if (answer.kind !== "answer") return blocks;
  const first = callsIn(request.messages) + 1;
  for (const [index, call] of answer.calls.entries()) {
    blocks.push({
      type: "toolCall",
      id: `call_${first + index}`,
      name: call.tool,
      arguments: structuredClone(call.args),
    });
  }
  return blocks;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
