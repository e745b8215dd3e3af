/**
 * A message that its sender changes or takes back while it waits.
 *
 * accept → route → [ amend | drop ] → receipt
 * Invariant: only what nobody has begun is changed; a model that has read a message has read it.
 */
import type { World } from "@holdfast/base";
import { amended, controlOf, endingJson } from "../bodies.ts";
import type { LaneItem, LaneStore } from "../lanes.ts";

export type Revision = { readonly kind: "edited"; readonly text: string } | { readonly kind: "deleted" };

interface Parts {
  readonly store: LaneStore;
  readonly world: World;
  /** Told after the item changed. Must not throw. */
  changed(itemId: string): void;
}

const WITHDRAWN = "Its sender took it back before it was taken up.";

/** The item as it is now, or null: it is too late, or there is no such message. */
export async function revise(
  which: (item: LaneItem) => boolean,
  { sessionKey, revision }: { readonly sessionKey: string; readonly revision: Revision },
  { store, world, changed }: Parts,
): Promise<LaneItem | null> {
  const queued = await store.list({ lane: "main", queue: sessionKey, states: ["queued"] });
  const item = queued.find(which);
  if (item === undefined || item.start !== null || item.joined !== null || controlOf(item) !== null) return null;
  const { id } = item;
  const change =
    revision.kind === "edited"
      ? ({ kind: "amend", id, body: amended(item, revision.text) } as const)
      : ({ kind: "drop", id, result: endingJson({ text: WITHDRAWN, code: "withdrawn" }) } as const);
  if (!(await store.commit("", [change], world.nowMs()))) return null;
  changed(id);
  return (await store.get(id)) ?? item;
}
