/**
 * What waits, for people: requests for approval, the queue, replies that could not be sent; and what a person does about them.
 * Works on the lane store alone, so it is the same with a running gateway and on a home at rest.
 */
import type { Decision } from "@holdfast/agent";
import type { World } from "@holdfast/base";
import { controlItem, controlOf, messageOf, outgoingOf, waitsFor } from "../bodies.ts";
import type { Change, LaneItem, LaneStore } from "../lanes.ts";
import type { WireApproval, WireLaneItem } from "../wire/index.ts";
import { preview } from "./plan.ts";

const SHOWN_MAX = 1_000;

/** Requests that nobody has decided, oldest first. */
export async function waitingApprovals(store: LaneStore): Promise<readonly WireApproval[]> {
  const items = await store.list({ lane: "main", states: ["waiting"], limit: SHOWN_MAX });
  return items.flatMap((item) =>
    (waitsFor(item)?.approvals ?? []).map((request) => ({
      ...request,
      session: item.queue,
      item: item.id,
      from: messageOf(item).from.id,
      askedFor: preview(messageOf(item).text),
    })),
  );
}

export type Decidable =
  | { readonly kind: "queued"; readonly approval: WireApproval; readonly item: LaneItem }
  | { readonly kind: "none" }
  /** The given beginning fits several. */
  | { readonly kind: "several"; readonly ids: readonly string[] };

/** Puts a decision into the conversation's lane, durably; the next turn goes by it. `id` may be the beginning of one. */
export async function queueDecision(
  { id, decision, by }: { readonly id: string; readonly decision: Decision; readonly by: string },
  { store, world }: { readonly store: LaneStore; readonly world: World },
): Promise<Decidable> {
  const found = (await waitingApprovals(store)).filter((approval) => approval.id.startsWith(id));
  const [approval] = found;
  if (approval === undefined || id === "") return { kind: "none" };
  if (found.length > 1) return { kind: "several", ids: found.map((each) => each.id) };
  const waiting = await store.get(approval.item);
  if (waiting === undefined) return { kind: "none" };
  const nowMs = world.nowMs();
  // A second press of the same button is the same decision.
  const key = `approval:${approval.id}:${decision}:${by}`;
  const { address } = messageOf(waiting);
  const to = decision === "expired" ? address : { channel: "web", account: "local", chat: waiting.queue, thread: null };
  const message = {
    ...messageOf(waiting),
    key,
    from: { id: by, name: null, owner: true },
    address: to,
    receivedMs: nowMs,
  };
  const control = { kind: "decide", approval: approval.id, item: waiting.id, decision, by } as const;
  const item = controlItem({ message, asked: null, clientKey: null }, waiting.queue, control);
  const queued = await store.enqueue(item, nowMs);
  return { kind: "queued", approval, item: queued.item };
}

/** Everything that is not finished and every reply that was given up, oldest first. */
export async function laneReport(store: LaneStore): Promise<readonly WireLaneItem[]> {
  const main = await store.list({ lane: "main", states: ["queued", "claimed", "waiting"], limit: SHOWN_MAX });
  const out = await store.list({ lane: "out", states: ["queued", "claimed", "failed"], limit: SHOWN_MAX });
  return [...main.map((item) => wireMain(item, main)), ...out.map(wireOut)];
}

function wireMain(item: LaneItem, open: readonly LaneItem[]): WireLaneItem {
  const { id, queue, state, acceptedMs, notBeforeMs, attempts } = item;
  const text = controlOf(item) === null ? preview(messageOf(item).text) : `(${controlOf(item)?.kind})`;
  return { id, lane: "main", queue, state, acceptedMs, notBeforeMs, attempts, text, waitsFor: reason(item, open) };
}

/** What has to happen before the item is worked on. */
function reason(item: LaneItem, open: readonly LaneItem[]): string | null {
  if (item.state === "claimed") return null;
  const approvals = waitsFor(item)?.approvals;
  if (approvals !== undefined) return `approval ${approvals.map(({ id }) => id.slice(0, 8)).join(", ")}`;
  if (item.joined !== null) return `the turn of ${item.joined}`;
  const before = open.find((other) => other.queue === item.queue && other.id !== item.id && other.state === "claimed");
  const earlier = before ?? open.find((other) => other.queue === item.queue && other.state === "queued");
  if (earlier !== undefined && earlier.id !== item.id) return `item ${earlier.id}`;
  return item.notBeforeMs > item.acceptedMs ? "its time" : "a free place";
}

function wireOut(item: LaneItem): WireLaneItem {
  const { id, queue, state, acceptedMs, notBeforeMs, attempts } = item;
  const why = item.state === "failed" ? String(item.result?.why ?? "") : null;
  const text = preview(outgoingOf(item).reply.text);
  return { id, lane: "out", queue, state, acceptedMs, notBeforeMs, attempts, text, waitsFor: why };
}

/** Sends a reply that was given up once more, as a new item. False: there is none of this id. */
export async function resend(
  id: string,
  { store, world }: { readonly store: LaneStore; readonly world: World },
): Promise<boolean> {
  const item = await store.get(id);
  if (item === undefined || item.lane !== "out" || item.state !== "failed") return false;
  const { lane, queue, body } = item;
  const again: Change = { kind: "enqueue", item: { lane, queue, body, key: `${item.key}:again:${world.nowMs()}` } };
  return store.commit("", [again], world.nowMs());
}

/** Decides for nobody: requests whose time is over. Returns how many. */
export async function expireApprovals(parts: { readonly store: LaneStore; readonly world: World }): Promise<number> {
  const over = (await waitingApprovals(parts.store)).filter(({ expiresMs }) => expiresMs < parts.world.nowMs());
  for (const { id } of over) await queueDecision({ id, decision: "expired", by: "clock" }, parts);
  return over.length;
}
