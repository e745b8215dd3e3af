/**
 * An arrival that has a conversation: into its lane, with what its coming changes there, in one step.
 *
 * accept → route → [ plan → lane ] → receipt
 * Invariant: a stop is durable before the turn it stops is told.
 */
import { AgentError, type Message } from "@holdfast/agent";
import type { World } from "@holdfast/base";
import { controlItem, droppedOf, endingJson, mainItem, messageOf, notice, waitsFor } from "../bodies.ts";
import type { Arrival } from "../channels.ts";
import type { Change, LaneItem, LaneStore } from "../lanes.ts";
import { type Plan, plan, preview, type QueueSettings, type Waiting } from "./plan.ts";
import type { RunningTurns } from "./running.ts";

export interface Queueing {
  readonly store: LaneStore;
  readonly world: World;
  readonly running: RunningTurns;
  settings(message: Message): QueueSettings;
  /** Told after items changed. Must not throw. */
  changed(itemId: string): void;
  /** Rings the lanes. */
  wake(): void;
}

export interface Queued {
  readonly fresh: boolean;
  readonly item: LaneItem;
}

export async function enqueue(arrival: Arrival, sessionKey: string, queueing: Queueing): Promise<Queued> {
  const { store, world, running: turns } = queueing;
  const { message } = arrival;
  const common = queueing.settings(message);
  const settings = { ...common, mode: arrival.mode ?? common.mode };
  const open = await store.list({ lane: "main", queue: sessionKey, states: ["queued", "claimed", "waiting"] });
  const running = open.filter((item) => item.state === "claimed").map((item) => messageOf(item).from.id);
  const busy = running.length > 0;
  const nowMs = world.nowMs();
  const waiting = open.filter((item) => item.state !== "claimed").map(waitingOf);
  const planned = plan(arrival, { waiting, running, nowMs }, settings);
  const queued = await store.enqueue(
    itemOf(arrival, { sessionKey, planned, settings, busy, nowMs, open }),
    nowMs,
    planned.kind === "queue" || planned.kind === "stop"
      ? [...dropping(open, planned), ...delaying(planned, nowMs)]
      : [],
  );
  if (!queued.fresh) return queued;
  if (planned.kind === "refuse") await refuse(queued.item, queueing);
  if (planned.kind === "queue" || planned.kind === "stop") for (const id of planned.drops) queueing.changed(id);
  if (planned.kind === "stop") turns.prod(sessionKey, new AgentError("stopped", { session: sessionKey }));
  if (planned.kind === "queue" && settings.mode === "interrupt")
    turns.prod(sessionKey, new AgentError("stopped", { session: sessionKey }));
  queueing.wake();
  return { fresh: true, item: (await store.get(queued.item.id)) ?? queued.item };
}

function waitingOf(item: LaneItem): Waiting {
  const free = item.joined === null && item.start === null;
  const approvals = waitsFor(item)?.approvals.map(({ id }) => id) ?? [];
  return {
    id: item.id,
    message: messageOf(item),
    free: free || item.state === "waiting",
    dropped: droppedOf(item),
    approvals,
    acceptedMs: item.acceptedMs,
  };
}

interface Made {
  readonly sessionKey: string;
  readonly planned: Plan;
  readonly settings: QueueSettings;
  readonly busy: boolean;
  readonly nowMs: number;
  readonly open: readonly LaneItem[];
}

function itemOf(arrival: Arrival, { sessionKey, planned, settings, busy, nowMs, open }: Made) {
  if (planned.kind === "stop")
    return controlItem(arrival, sessionKey, { kind: "stop", wasBusy: busy, dropped: planned.drops.length });
  if (planned.kind === "decide") {
    const { approval, decision } = planned;
    const by = arrival.message.from.id;
    const item = open.find((each) => waitsFor(each)?.approvals.some(({ id }) => id === approval))?.id ?? null;
    return controlItem(arrival, sessionKey, { kind: "decide", approval, decision, item, by });
  }
  if (planned.kind === "order") return controlItem(arrival, sessionKey, planned.order);
  const dropped = planned.kind === "queue" ? planned.dropped : [];
  const item = mainItem(arrival, sessionKey, { mode: settings.mode, dropped });
  return planned.kind === "queue" && planned.laterMs > 0 ? { ...item, notBeforeMs: nowMs + planned.laterMs } : item;
}

/** What gives way ends as dropped, and whoever wrote it is told. A stop tells it in its own reply. */
function dropping(open: readonly LaneItem[], planned: Extract<Plan, { kind: "queue" | "stop" }>): readonly Change[] {
  return open
    .filter((item) => planned.drops.includes(item.id))
    .flatMap((item): Change[] => {
      const why = planned.kind === "stop" ? "The work was stopped before this message was taken up." : FULL;
      const drop: Change = { kind: "drop", id: item.id, result: endingJson({ text: why, code: "dropped" }) };
      return planned.kind === "stop" ? [drop] : [drop, tell(item)];
    });
}

/** Quiet is waited for from the newest message on. */
function delaying(planned: Extract<Plan, { kind: "queue" | "stop" }>, nowMs: number): readonly Change[] {
  if (planned.kind === "stop") return [];
  const notBeforeMs = nowMs + planned.laterMs;
  return planned.delays.map((id) => ({ kind: "delay", id, notBeforeMs }) as const);
}

const FULL = "Too many messages were waiting, so this one was not answered.";

function tell(item: LaneItem): Change {
  const { address, text } = messageOf(item);
  return { kind: "enqueue", item: notice(item.id, address, `${FULL} "${preview(text)}"`) };
}

async function refuse(item: LaneItem, { store, world, changed }: Queueing): Promise<void> {
  const drop: Change = { kind: "drop", id: item.id, result: endingJson({ text: FULL, code: "dropped" }) };
  await store.commit("", [drop, tell(item)], world.nowMs());
  changed(item.id);
}
