/**
 * What the page knows of one session, and the pure reducer that keeps it.
 * Invariants: an event at or before the cursor changes nothing (nothing twice); an event that does not fit what is
 * known makes the state `stale`, which means: fetch the snapshot again (no gaps). Nothing provisional outlives
 * its withdrawal or a snapshot.
 */
import type { WireEvent, WireItem, WireSnapshot } from "@holdfast/gateway/wire";
import { addEntries, type Entry } from "./path.ts";

/** An answer while it streams. Never saved text. */
export interface Draft {
  readonly answerId: string;
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly string[];
}

/** One's own message before the gateway has it. */
export interface Outgoing {
  readonly clientKey: string;
  readonly text: string;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
  /** Why the gateway refused it; null while it is being sent. */
  readonly refusal: string | null;
}

/** The gateway was seen to be another one than before. */
export interface Restart {
  /** The newest entry that was known before; null: none. */
  readonly after: string | null;
  /** Milliseconds since 1970 UTC. */
  readonly at: number;
}

export interface LiveState {
  /** False until the first snapshot. */
  readonly loaded: boolean;
  /** The snapshot must be fetched (again) before events mean anything. */
  readonly stale: boolean;
  readonly cursor: string;
  /** The current path, oldest first. */
  readonly entries: readonly Entry[];
  /** Entries that are known but not on the current path. */
  readonly aside: readonly Entry[];
  /** Ids of entries that were shown before they were durable. */
  readonly unsaved: ReadonlySet<string>;
  readonly more: string | null;
  readonly items: readonly WireItem[];
  readonly running: boolean;
  readonly drafts: readonly Draft[];
  readonly outgoing: readonly Outgoing[];
  readonly restarts: readonly Restart[];
}

export type LiveEvent =
  | { readonly type: "snapshot"; readonly snapshot: WireSnapshot; readonly at: number }
  | { readonly type: "older"; readonly before: string; readonly snapshot: WireSnapshot }
  | { readonly type: "wire"; readonly id: string; readonly event: WireEvent }
  | { readonly type: "queued"; readonly outgoing: Outgoing }
  | { readonly type: "accepted"; readonly clientKey: string; readonly item: WireItem }
  | { readonly type: "refused"; readonly clientKey: string; readonly message: string }
  | { readonly type: "discarded"; readonly clientKey: string };

export const emptyState: LiveState = {
  loaded: false,
  stale: true,
  cursor: "",
  entries: [],
  aside: [],
  unsaved: new Set(),
  more: null,
  items: [],
  running: false,
  drafts: [],
  outgoing: [],
  restarts: [],
};

/** The state after `event`. Returns the same object when nothing changed. */
export function apply(state: LiveState, event: LiveEvent): LiveState {
  switch (event.type) {
    case "snapshot":
      return fromSnapshot(state, event.snapshot, event.at);
    case "older":
      return withOlder(state, event.before, event.snapshot);
    case "wire":
      return afterWire(state, event.id, event.event);
    case "queued":
      return { ...state, outgoing: [...without(state.outgoing, event.outgoing.clientKey), event.outgoing] };
    case "accepted":
      return accepted(state, event.clientKey, event.item);
    case "refused":
      return {
        ...state,
        outgoing: state.outgoing.map((out) =>
          out.clientKey === event.clientKey ? { ...out, refusal: event.message } : out,
        ),
      };
    case "discarded":
      return { ...state, outgoing: without(state.outgoing, event.clientKey) };
  }
}

function fromSnapshot(state: LiveState, snapshot: WireSnapshot, at: number): LiveState {
  return {
    ...emptyState,
    loaded: true,
    stale: false,
    cursor: snapshot.cursor,
    entries: snapshot.entries,
    more: snapshot.more,
    items: snapshot.items,
    running: snapshot.running,
    outgoing: withoutAccepted(state.outgoing, snapshot.items),
    restarts: withRestart(state, snapshot, at),
  };
}

/** Another epoch than before is another process; of several restarts at one place the last one counts. */
function withRestart(state: LiveState, snapshot: WireSnapshot, at: number): readonly Restart[] {
  const same = splitCursor(state.cursor)[0] === splitCursor(snapshot.cursor)[0];
  if (!state.loaded || same) return state.restarts;
  const after = state.entries.at(-1)?.id ?? null;
  return [...state.restarts.filter((restart) => restart.after !== after), { after, at }];
}

/** Puts an older page in front, unless the path has changed since it was asked for. */
function withOlder(state: LiveState, before: string, snapshot: WireSnapshot): LiveState {
  if (state.more !== before) return state;
  const known = new Set(state.entries.map((entry) => entry.id));
  const older = snapshot.entries.filter((entry) => !known.has(entry.id));
  return { ...state, entries: [...older, ...state.entries], more: snapshot.more };
}

function afterWire(state: LiveState, id: string, event: WireEvent): LiveState {
  if (state.stale) return state;
  const place = compareCursors(id, state.cursor);
  if (place === "seen") return state;
  if (place === "other-epoch" || event.type === "snapshot") return { ...state, stale: true };
  return { ...afterEvent(state, event), cursor: id };
}

function afterEvent(state: LiveState, event: Exclude<WireEvent, { type: "snapshot" }>): LiveState {
  switch (event.type) {
    case "entries":
      return afterEntries(state, event);
    case "item":
      return {
        ...state,
        items: withItem(state.items, event.item),
        outgoing: withoutAccepted(state.outgoing, [event.item]),
      };
    case "turn":
      return { ...state, running: event.state === "began", drafts: [] };
    case "delta":
      return { ...state, drafts: withDelta(state.drafts, event.answerId, event.delta) };
    case "withdrawn":
      return { ...state, drafts: withoutDrafts(state.drafts, [event.answerId]) };
  }
}

function afterEntries(state: LiveState, event: Extract<WireEvent, { type: "entries" }>): LiveState {
  const ids = event.entries.map((entry) => entry.id);
  const path = addEntries(state.entries, state.aside, event.entries, event.leaf);
  if (path === null) return { ...state, stale: true };
  const unsaved = new Set(state.unsaved);
  for (const id of ids) {
    if (event.durable) unsaved.delete(id);
    else unsaved.add(id);
  }
  const more = path.rerooted ? null : state.more;
  const drafts = withoutDrafts(state.drafts, ids);
  return { ...state, entries: path.entries, aside: path.aside, more, unsaved, drafts };
}

function accepted(state: LiveState, clientKey: string, item: WireItem): LiveState {
  // The stream may have been faster than the answer of the request; what it said is newer.
  const known = state.items.some((other) => other.id === item.id);
  return {
    ...state,
    outgoing: without(state.outgoing, clientKey),
    items: known ? state.items : [...state.items, item],
  };
}

/** Where `id` stands against `cursor`; both `<epoch>:<sequence>`. */
function compareCursors(id: string, cursor: string): "new" | "seen" | "other-epoch" {
  const [epoch, sequence] = splitCursor(id);
  const [cursorEpoch, cursorSequence] = splitCursor(cursor);
  if (epoch !== cursorEpoch) return "other-epoch";
  return sequence > cursorSequence ? "new" : "seen";
}

function splitCursor(cursor: string): readonly [string, number] {
  const colon = cursor.lastIndexOf(":");
  return [cursor.slice(0, colon), Number(cursor.slice(colon + 1))];
}

function withItem(items: readonly WireItem[], item: WireItem): readonly WireItem[] {
  if (!items.some((other) => other.id === item.id)) return [...items, item];
  return items.map((other) => (other.id === item.id ? item : other));
}

function without(outgoing: readonly Outgoing[], clientKey: string): readonly Outgoing[] {
  return outgoing.filter((out) => out.clientKey !== clientKey);
}

function withoutAccepted(outgoing: readonly Outgoing[], items: readonly WireItem[]): readonly Outgoing[] {
  return outgoing.filter((out) => !items.some((item) => item.clientKey === out.clientKey));
}

function withoutDrafts(drafts: readonly Draft[], ids: readonly string[]): readonly Draft[] {
  return drafts.filter((draft) => !ids.includes(draft.answerId));
}

type Delta = Extract<WireEvent, { type: "delta" }>["delta"];

function withDelta(drafts: readonly Draft[], answerId: string, delta: Delta): readonly Draft[] {
  const known = drafts.find((draft) => draft.answerId === answerId);
  const before = known ?? { answerId, text: "", thinking: "", calls: [] };
  const after = extend(before, delta);
  return known ? drafts.map((draft) => (draft === known ? after : draft)) : [...drafts, after];
}

function extend(draft: Draft, delta: Delta): Draft {
  switch (delta.kind) {
    case "text":
      return { ...draft, text: draft.text + delta.text };
    case "thinking":
      return { ...draft, thinking: draft.thinking + delta.text };
    case "call":
      return { ...draft, calls: [...draft.calls, delta.name] };
  }
}
