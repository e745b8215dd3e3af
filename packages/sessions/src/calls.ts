/**
 * Which tool calls have no result yet. Pure; fed in file order.
 *
 * Our results name their call (`call: { entryId, ordinal }`); a foreign result belongs to the nearest earlier unanswered
 * call on its own path with its `toolCallId`. Ids of calls alone would not do: providers use them again.
 */
import { type Entry, isMessage, isToolResult, toolCallsOf } from "./entry.ts";

export interface OpenCall {
  readonly entryId: string;
  /** Place among the calls of its message, from 0. */
  readonly ordinal: number;
  readonly toolCallId: string;
  readonly name: string;
}

interface Asked {
  readonly index: number;
  readonly call: OpenCall;
}

/** What the calls need to know of the tree: indexes only grow from parent to child. */
export interface Parents {
  parentOf(index: number): number;
}

export class CallLedger {
  /** Unanswered calls by the provider's id, in file order. */
  readonly #open = new Map<string, Asked[]>();

  /** Takes the entry at `index` of its tree. */
  take(entry: Entry, index: number, parents: Parents): void {
    if (!isMessage(entry)) return;
    toolCallsOf(entry.message).forEach((block, ordinal) => {
      const call = { entryId: entry.id, ordinal, toolCallId: block.id, name: block.name };
      const same = this.#open.get(block.id);
      if (same === undefined) this.#open.set(block.id, [{ index, call }]);
      else same.push({ index, call });
    });
    if (isToolResult(entry.message)) this.#answer(entry, entry.message.toolCallId, index, parents);
  }

  #answer(entry: Entry, toolCallId: string, index: number, parents: Parents): void {
    const asked = this.#open.get(toolCallId) ?? [];
    const named = entry.call;
    const found =
      named === undefined
        ? asked.findLastIndex((one) => isAncestor(one.index, index, parents))
        : asked.findIndex(({ call }) => call.entryId === named.entryId && call.ordinal === named.ordinal);
    if (found !== -1) asked.splice(found, 1);
    if (asked.length === 0) this.#open.delete(toolCallId);
  }

  /** In file order. */
  open(): OpenCall[] {
    const all = [...this.#open.values()].flat();
    all.sort((a, b) => a.index - b.index || a.call.ordinal - b.call.ordinal);
    return all.map((one) => one.call);
  }
}

function isAncestor(above: number, index: number, parents: Parents): boolean {
  let at = parents.parentOf(index);
  while (at > above) at = parents.parentOf(at);
  return at === above;
}
