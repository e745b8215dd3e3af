/**
 * What a turn at work is told about its conversation's lane: a stop, and the messages that are answered in it, too.
 *
 * Invariants: a message is in the lane until the turn that answers it has ended, so nothing that was taken in can be lost;
 * only messages with the same rights share a turn, since tools are allowed by who wrote.
 */
import { AgentError, type Arrived, type Joining, type TurnItem } from "@holdfast/agent";
import { controlOf, messageOf, modeOf } from "../bodies.ts";
import type { LaneItem, LaneStore } from "../lanes.ts";

/** Throws `AgentError("right_lost")` where the item is in no hands any more: whoever had it meanwhile has ended it. */
export async function arrived(item: TurnItem, store: LaneStore): Promise<Arrived> {
  const open = await store.list({ lane: "main", queue: item.sessionKey, states: ["queued", "claimed"] });
  if (!open.some(({ id, state }) => id === item.id && state === "claimed"))
    throw new AgentError("right_lost", { session: item.sessionKey });
  const queued = open.filter(({ state }) => state === "queued");
  const joined = queued.filter((other) => other.joined === item.id).map(joining);
  const waiting = queued.filter((other) => other.joined === null && other.id !== item.id);
  const stop = waiting.some((other) => controlOf(other)?.kind === "stop")
    ? "person"
    : waiting.some((other) => modeOf(other) === "interrupt")
      ? "newer"
      : null;
  // What was begun before has its own place in the log, and goes on by itself.
  const mayJoin = (other: LaneItem): boolean =>
    controlOf(other) === null && other.start === null && sameRights(other, item);
  const firsts = firstsThat(waiting, mayJoin);
  const steer = firstsThat(firsts, (other) => modeOf(other) === "steer").map(joining);
  const collect = firstsThat(firsts, (other) => modeOf(other) !== "followup" && samePlace(other, item)).map(joining);
  return { stop, joined, steer, collect: collect.filter(({ id }) => !steer.some((other) => other.id === id)) };
}

/** Up to the first that does not: messages are not taken out of their order. */
function firstsThat(items: readonly LaneItem[], does: (item: LaneItem) => boolean): readonly LaneItem[] {
  const end = items.findIndex((item) => !does(item));
  return end < 0 ? items : items.slice(0, end);
}

function sameRights(other: LaneItem, { message }: TurnItem): boolean {
  return messageOf(other).from.owner === message.from.owner;
}

function samePlace(other: LaneItem, { message }: TurnItem): boolean {
  const { channel, account, chat, thread } = messageOf(other).address;
  const { address } = message;
  return (
    channel === address.channel && account === address.account && chat === address.chat && thread === address.thread
  );
}

function joining(item: LaneItem): Joining {
  return { id: item.id, message: messageOf(item), start: item.start };
}
