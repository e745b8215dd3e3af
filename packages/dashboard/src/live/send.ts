/**
 * Sends one's own messages until the gateway has them.
 * Invariant: one after the other, in the order in which they were written, each always under the same key, so that
 * repeating cannot run it twice.
 */
import { Backoff } from "./backoff.ts";
import type { Board } from "./board.ts";
import type { Outgoing } from "./state.ts";

/** Sends until nothing is left to send, `signal` aborts, or nobody is signed in. Only one may run per board. */
export async function sendAll(board: Board, signal: AbortSignal): Promise<void> {
  const backoff = new Backoff(board.outside.clock, signal, board.hurry);
  for (let next = toSend(board, signal); next !== undefined; next = toSend(board, signal)) {
    const { clientKey, text } = next;
    const got = await board.outside.api.send(board.key, text, clientKey);
    if (got.kind === "ok") {
      backoff.reset();
      board.apply({ type: "accepted", clientKey, item: got.value.item });
    } else if (got.kind === "refused") {
      board.apply({ type: "refused", clientKey, message: got.message });
    } else {
      if (got.kind === "signed-out") board.change({ connection: "signed-out" });
      await backoff.pause();
    }
  }
}

function toSend(board: Board, signal: AbortSignal): Outgoing | undefined {
  if (signal.aborted || board.view.connection === "signed-out") return undefined;
  return board.view.state.outgoing.find((out) => out.refusal === null);
}
