/**
 * The thread in which the lanes' file is written: takes all the steps that have come, carries them out in one commit, answers.
 *
 * Invariant: while one commit is on its way to the disk the next steps gather, so a busy gateway pays one sync for many
 * sessions, and its event loop none.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { GatewayError } from "../../errors.ts";
import { type LaneFile, openLaneFile } from "./file.ts";
import type { Outcome, Step } from "./steps.ts";

/** To the thread. Null: close, then end. */
export type Asked = { readonly call: number; readonly step: Step } | null;
/** From it: first `opened`, then answers. */
export type Said =
  | { readonly kind: "opened"; readonly outcome: Outcome }
  | { readonly kind: "answers"; readonly answers: readonly { readonly call: number; readonly outcome: Outcome }[] };

function say(port: MessagePort, said: Said): void {
  port.postMessage(said);
}

function serve(port: MessagePort, file: LaneFile): void {
  port.on("message", (first: Asked) => {
    const asked = [first, ...gathered(port)];
    const calls = asked.filter((each) => each !== null);
    const outcomes = file.run(calls.map(({ step }) => step));
    say(port, { kind: "answers", answers: calls.map(({ call }, index) => ({ call, outcome: outcomes[index]! })) });
    if (calls.length === asked.length) return;
    file.close();
    port.close();
  });
}

/** Whatever else has come meanwhile. */
function* gathered(port: MessagePort): Generator<Asked> {
  for (let next = receiveMessageOnPort(port); next !== undefined; next = receiveMessageOnPort(port))
    yield next.message as Asked;
}

/** Only as a thread of `threaded.ts`. */
function main(port: MessagePort, path: string): void {
  try {
    const file = openLaneFile(path);
    say(port, { kind: "opened", outcome: { kind: "done", value: null } });
    serve(port, file);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    say(port, { kind: "opened", outcome: { kind: "error", code: error.code, details: error.details } });
  }
}

if (parentPort !== null) main(parentPort, String(workerData));
