/**
 * Orders to the gateway that came as messages: a stop, a decision about a call that waits for a yes. They are items of the
 * conversation's lane like any message, so their order with everything else is the order in which they came.
 *
 * Invariant: whoever gave the order gets an honest answer, also when it came too late.
 */
import { type Agent, type ApprovalRequest, compactByHand, type Decision, decide, type Recorded } from "@holdfast/agent";
import type { World } from "@holdfast/base";
import { compactedText, contextText, speaksChinese } from "./context-text.ts";
import type { RunningTurns } from "./queue/running.ts";
import { isChinese } from "./language.ts";
import { type Control, endingJson, messageOf, notice } from "./bodies.ts";
import type { Change, LaneItem, LaneStore } from "./lanes.ts";
import type { After } from "./runner.ts";

interface Orders {
  readonly store: LaneStore;
  readonly holder: string;
  readonly world: World;
  readonly agent: Agent;
  readonly running: RunningTurns;
  /** Aborts when the gateway stops. */
  readonly signal: AbortSignal;
  changed(itemId: string): void;
  wakeOut(): void;
}

export async function carryOut(item: LaneItem, control: Control, orders: Orders): Promise<After> {
  const chinese = isChinese(messageOf(item).text);
  if (control.kind === "stop") return said(item, stopText({ ...control, chinese }), orders);
  if (control.kind === "compact") return compacting(item, control.focus, orders);
  if (control.kind === "context") return said(item, await contextText(item, orders), orders);
  const { approval, decision, by } = control;
  if (approval === null) return said(item, decisionText({ kind: "unknown" }, { decision, chinese }), orders);
  await using session = await orders.agent.sessions.open(item.queue);
  const recorded = await decide(session, { approval, decision, by, nowMs: orders.world.nowMs() });
  const wake: readonly Change[] = control.item === null ? [] : [{ kind: "wake", id: control.item }];
  return said(item, decisionText(recorded, { decision, chinese }), orders, wake);
}

/** It takes as long as the model takes for a summary: a stop ends it, and so does the gateway's end, after which it begins again. */
async function compacting(item: LaneItem, focus: string | null, orders: Orders): Promise<After> {
  using entered = orders.running.enter(item.queue);
  const signal = AbortSignal.any([orders.signal, entered.signal]);
  const compacted = await compactByHand(orders.agent, item.queue, { focus, signal });
  if (orders.signal.aborted && compacted.kind === "failed") return { kind: "again", delayMs: 0 };
  const chinese = isChinese(messageOf(item).text) || (await speaksChinese(orders.agent, item.queue));
  return said(item, compactedText(compacted, chinese), orders);
}

/** Ends the order's item, tells its sender, and carries out what can still be. */
async function said(item: LaneItem, text: string, orders: Orders, also: readonly Change[] = []): Promise<After> {
  const { store, holder, world, changed, wakeOut } = orders;
  const end: readonly Change[] = [
    { kind: "enqueue", item: notice(item.id, messageOf(item).address, text) },
    { kind: "settle", id: item.id, state: "done", result: endingJson({ text, code: "order" }) },
  ];
  // What it would wake may have been woken, or dropped, before.
  if (!(await store.commit(holder, [...also, ...end], world.nowMs()))) await store.commit(holder, end, world.nowMs());
  for (const change of also) if ("id" in change) changed(change.id);
  changed(item.id);
  wakeOut();
  return { kind: "settled" };
}

interface Stopped {
  readonly wasBusy: boolean;
  readonly dropped: number;
  readonly chinese: boolean;
}

function stopText({ wasBusy, dropped, chinese }: Stopped): string {
  const nothing = !wasBusy && dropped === 0;
  if (chinese)
    return nothing ? "没有正在进行的工作。" : `已停止。${dropped > 0 ? `还在等待的 ${dropped} 条消息不再处理。` : ""}`;
  if (nothing) return "Nothing was running.";
  return dropped > 0 ? `Stopped. ${dropped} waiting message${dropped === 1 ? " was" : "s were"} dropped.` : "Stopped.";
}

const DECIDED: Readonly<Record<Decision, readonly [english: string, chinese: string]>> = {
  yes: ["Approved. It is run now.", "已批准，现在执行。"],
  no: ["Denied. It is not run.", "已拒绝，不会执行。"],
  expired: ["The time to answer is over. It is not run.", "已过期，不会执行。"],
};
const LATE: Readonly<Record<Decision, readonly [english: string, chinese: string]>> = {
  yes: ["Too late: it was approved before.", "太晚了：之前已经批准。"],
  no: [
    "Too late: it was denied before. Nothing was run because of this.",
    "太晚了：之前已经拒绝。没有因此执行任何操作。",
  ],
  expired: ["Too late: the time to answer was over. Nothing was run.", "太晚了：已经过期，没有执行。"],
};
const UNKNOWN = [
  "No such request waits for an answer. `holdfast approvals` lists those that do.",
  "没有这样的请求在等待答复。可以用 `holdfast approvals` 查看。",
] as const;

function decisionText(recorded: Recorded, { decision, chinese }: { decision: Decision; chinese: boolean }): string {
  const language = chinese ? 1 : 0;
  if (recorded.kind === "unknown") return UNKNOWN[language];
  return recorded.kind === "recorded" ? DECIDED[decision][language] : LATE[recorded.decision][language];
}

/** Characters of an id that are shown, and enough to name it. */
export const SHOWN_ID_CHARS = 8;

/** What a person is asked. */
export function askText(
  approvals: readonly ApprovalRequest[],
  { chinese, nowMs }: { readonly chinese: boolean; readonly nowMs: number },
): string {
  return approvals
    .map(({ id, tool, summary, expiresMs }) => {
      const short = id.slice(0, SHOWN_ID_CHARS);
      const hours = Math.max(1, Math.round((expiresMs - nowMs) / 3_600_000));
      return chinese
        ? `需要你的批准才能执行 ${tool}：\n${summary}\n回复 /approve ${short} 同意，或 /deny ${short} 拒绝（约 ${hours} 小时内有效）。`
        : `I need your approval to run ${tool}:\n${summary}\nAnswer /approve ${short} or /deny ${short} (within about ${hours} h).`;
    })
    .join("\n\n");
}
