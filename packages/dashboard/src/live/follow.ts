/**
 * Follows one session: a snapshot, then events after its cursor, and again after every cut.
 * Invariant: events are only taken in on top of a snapshot that they continue.
 */
import { Backoff } from "./backoff.ts";
import type { Board } from "./board.ts";
import type { StreamReader } from "./outside.ts";

/** Runs until `signal` aborts or the gateway says that nobody is signed in. */
export async function follow(board: Board, signal: AbortSignal): Promise<void> {
  const backoff = new Backoff(board.outside.clock, signal, board.hurry);
  while (!signal.aborted && board.view.connection !== "signed-out") {
    if (board.view.state.stale && !(await fetchSnapshot(board, backoff, signal))) continue;
    const opened = await listen(board, backoff, signal);
    if (signal.aborted) return;
    if (opened && board.view.state.stale) continue;
    // A refused stream does not say why; the snapshot does.
    if (!opened) board.change({ state: { ...board.view.state, stale: true } });
    board.lost();
    await backoff.pause();
  }
}

/** True when the state is fresh; else it has waited, or the connection says that waiting is pointless. */
async function fetchSnapshot(board: Board, backoff: Backoff, signal: AbortSignal): Promise<boolean> {
  const got = await board.outside.api.snapshot(board.key, null);
  if (signal.aborted) return false;
  if (got.kind === "ok") {
    board.change({ refusal: null });
    board.apply({ type: "snapshot", snapshot: got.value, at: board.outside.clock.nowMs() });
    return true;
  }
  board.failed(got);
  if (got.kind !== "signed-out") await backoff.pause();
  return false;
}

/** Listens until the stream ends or the state is stale. False: it never opened. */
function listen(board: Board, backoff: Backoff, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    let opened = false;
    const stop = (): void => {
      close();
      signal.removeEventListener("abort", stop);
      resolve(opened);
    };
    const reader: StreamReader = {
      opened: () => {
        opened = true;
        backoff.reset();
        board.change({ connection: "live" });
      },
      event: (id, event) => {
        board.apply({ type: "wire", id, event });
        if (board.view.state.stale) stop();
      },
      ended: stop,
    };
    const close = board.outside.api.stream(board.key, board.view.state.cursor, reader);
    signal.addEventListener("abort", stop, { once: true });
  });
}
