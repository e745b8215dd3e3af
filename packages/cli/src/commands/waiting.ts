/**
 * `holdfast approvals` and `holdfast lanes`: what waits for a yes, what waits at all, and what was given up.
 * Decisions go through the running gateway, else through one of our own that lives until what they let go on has ended.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { LaneStore } from "@holdfast/gateway/internal";
import type { WireApproval, WireLaneItem } from "@holdfast/gateway/wire";
import type { GatewayClient } from "../client.ts";
import type { CommandContext } from "../context.ts";
import { runningGateway, withGateway } from "../door.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { homeOf } from "../home.ts";
import { printable } from "../output.ts";
import { ago, columns } from "../table.ts";

/** What waits, from the running gateway; without one, from the lanes as they lie. Looking starts no work. */
async function looked<T>(
  context: CommandContext,
  {
    there,
    here,
    nothing,
  }: {
    there(client: GatewayClient): Promise<T>;
    here(store: LaneStore): Promise<T>;
    readonly nothing: T;
  },
): Promise<T> {
  const client = await runningGateway(context);
  if (client !== null) return there(client);
  const file = join(homeOf(context), "lanes.sqlite");
  if (!existsSync(file)) return nothing;
  const { sqliteLanes } = await import("@holdfast/gateway/internal");
  const store = sqliteLanes(file, context.world);
  try {
    return await here(store);
  } finally {
    await store.close();
  }
}

const ID_CHARS = 8;
const LOOK_MS = 100;

/** `{ "approvals": [{ "id", "tool", "summary", "session", "askedFor", "expiresMs", ... }] }` */
export async function listApprovals(context: CommandContext): Promise<ExitCode> {
  const found = await looked<{ readonly approvals: readonly WireApproval[] }>(context, {
    there: (client) => client.approvals(),
    here: async (store) => ({ approvals: await (await import("@holdfast/gateway/internal")).waitingApprovals(store) }),
    nothing: { approvals: [] },
  });
  context.output.result(found, (paint) => {
    if (found.approvals.length === 0) return "Nothing waits for a yes.";
    return found.approvals
      .map(
        (
          approval,
        ) => `${paint.bold(approval.id.slice(0, ID_CHARS))}  ${paint.cyan(approval.tool)}  ${paint.dim(approval.session)}
  ${printable(approval.summary)}
  asked for by: ${printable(approval.askedFor)}`,
      )
      .concat(paint.dim("holdfast approvals approve ID · holdfast approvals deny ID"))
      .join("\n\n");
  });
  return EXIT.ok;
}

/** `{ "approval": {...}, "durable": true }`; prints it once the decision is durable. */
export async function decideApproval(context: CommandContext, id: string, decision: "yes" | "no"): Promise<ExitCode> {
  const decided = await withGateway(context, async (client, door) => {
    const made = await client.decide(id, decision);
    if (door === "own") await untilDone(context, client, made.approval);
    return made;
  });
  context.output.result(decided, () => {
    const { tool, session } = decided.approval;
    return decision === "yes" ? `Approved: ${tool} in ${session}.` : `Denied: ${tool} in ${session}.`;
  });
  return EXIT.ok;
}

/** A gateway of our own ends with the command; what the yes let go on shall be finished by then, or wait again. */
async function untilDone({ world }: CommandContext, client: GatewayClient, { item, id }: WireApproval): Promise<void> {
  for (;;) {
    const { items } = await client.lanes();
    const mine = items.find((each) => each.id === item);
    if (mine === undefined) return;
    const asksAgain = mine.state === "waiting" && mine.waitsFor?.includes(id.slice(0, ID_CHARS)) === false;
    if (asksAgain) return;
    await world.sleep(LOOK_MS);
  }
}

/** `{ "items": [{ "id", "lane", "queue", "state", "text", "waitsFor", ... }] }` */
export async function listLanes(context: CommandContext): Promise<ExitCode> {
  const found = await looked<{ readonly items: readonly WireLaneItem[] }>(context, {
    there: (client) => client.lanes(),
    here: async (store) => ({ items: await (await import("@holdfast/gateway/internal")).laneReport(store) }),
    nothing: { items: [] },
  });
  context.output.result(found, (paint) => {
    if (found.items.length === 0) return "Nothing waits.";
    const nowMs = context.world.nowMs();
    const rows = found.items.map((item) => row(item, nowMs));
    const table = columns([["ID", "STATE", "WHERE", "SINCE", "WAITS FOR", "TEXT"], ...rows]);
    const failed = found.items.some(({ state }) => state === "failed");
    return failed
      ? `${table}\n${paint.dim("holdfast lanes resend ID sends a reply that was given up once more.")}`
      : table;
  });
  return EXIT.ok;
}

function row(item: WireLaneItem, nowMs: number): readonly string[] {
  const state = item.lane === "out" ? `reply ${item.state}` : item.state === "claimed" ? "at work" : item.state;
  const where = printable(item.queue);
  return [item.id, state, where, ago(item.acceptedMs, nowMs), item.waitsFor ?? "", printable(item.text.slice(0, 40))];
}

/** `{ "queued": true }` */
export async function resendReply(context: CommandContext, id: string): Promise<ExitCode> {
  const done = await withGateway(context, (client) => client.resend(id));
  context.output.result(done, () => "Queued once more.");
  return EXIT.ok;
}
