/**
 * Whether a call may run: known, valid, allowed, not a blind repetition, and approved where that is needed.
 * Invariant: what may not run is answered with a reason that the model can act on.
 */
import type { JsonObject } from "@holdfast/base";
import type { NewEntry } from "@holdfast/sessions";
import { repeatRefusal } from "./actions/repeats.ts";
import { approvedLate, argumentsDigest, askedEntry, askedIn, requestOf, standing } from "./approvals.ts";
import { NO_USAGE } from "./ask.ts";
import { isUser } from "./entries.ts";
import { argumentsErrorOf, splitName } from "./model/answers.ts";
import type { OpenCall } from "./next-step.ts";
import type { Action } from "./perform.ts";
import { effectOf } from "./settle.ts";
import type { ApprovalRequest, Decision, Tool } from "./types.ts";
import { append, sinceStart, type Work } from "./work.ts";

export type Permission =
  | { readonly kind: "may"; readonly tool: Tool }
  | { readonly kind: "refused"; readonly text: string; readonly details?: JsonObject }
  | { readonly kind: "ask"; readonly tool: Tool; readonly expiresMs: number };

const SAID: Readonly<Record<Decision, string>> = {
  yes: "",
  no: "Not run: the owner said no. Do not try it again; go on without it, or ask what to do instead.",
  expired: "Not run: nobody answered in time whether it may run.",
};

export function permission(work: Work, action: Action): Permission {
  const { agent, item } = work;
  const { tool, call, args, closing, log } = action;
  const about = standing(log, action, argumentsDigest(call.name, args));
  if (closing !== null) {
    const details = about.kind === "waiting" ? { approval: about.asked.id } : undefined;
    return { kind: "refused", text: closingText(closing, about.kind), ...(details && { details }) };
  }
  if (tool === undefined) {
    const names = [...agent.tools.keys()].join(", ") || "none";
    return { kind: "refused", text: `There is no tool "${call.name}". Tools: ${names}.` };
  }
  const bad = argumentsErrorOf(call) ?? tool.check(args);
  if (bad !== null) return { kind: "refused", text: `Not run, the arguments are not valid: ${bad}` };
  const allowed = agent.allowed(item.message, tool, args);
  if (typeof allowed === "string") return { kind: "refused", text: allowed };
  const repeated = effectOf(tool, args) === "none" ? null : repeatRefusal(action);
  if (repeated !== null) return { kind: "refused", text: repeated };
  if (allowed === null) return { kind: "may", tool };
  if (about.kind === "decided") {
    return about.decision === "yes" ? { kind: "may", tool } : { kind: "refused", text: SAID[about.decision] };
  }
  const expiresMs = about.kind === "waiting" ? about.asked.expiresMs : agent.world.nowMs() + allowed.expiresInMs;
  return { kind: "ask", tool, expiresMs };
}

function closingText(closing: string, standing: string): string {
  return standing === "waiting"
    ? "Not run yet: it waits for the owner's approval. Another message came first. When the owner says yes, it is run by itself."
    : `Not run: ${closing}`;
}

/** Asks, in one write, for every call of the answer that needs a yes and was not asked for; what is not decided is returned. */
export async function approvalsFor(
  work: Work,
  open: readonly OpenCall[],
  describe: (open: OpenCall) => Action,
): Promise<readonly ApprovalRequest[]> {
  const { agent, item } = work;
  const { stop, steer } = await agent.arrived(item);
  if (stop !== null || steer.length > 0) return [];
  const actions = open.map(describe);
  const asking = actions.flatMap((action): NewEntry[] => {
    const may = permission(work, action);
    const { call, args, log } = action;
    const of = argumentsDigest(call.name, args);
    if (may.kind !== "ask" || standing(log, action, of).kind !== "unasked") return [];
    return [askedEntry(action, { item: item.id, digest: of, expiresMs: may.expiresMs, summary: summaryOf(args) })];
  });
  if (asking.length > 0) await append(work, asking);
  const log = await sinceStart(work);
  return actions.flatMap((action) => {
    const { call, args } = action;
    const may = permission(work, { ...action, log });
    const about = standing(log, action, argumentsDigest(call.name, args));
    if (may.kind !== "ask" || about.kind !== "waiting") return [];
    if (agent.world.nowMs() > about.asked.expiresMs) return [];
    return [requestOf(about.asked, summaryOf(args))];
  });
}

const SUMMARY_CHARS = 400;

/** What a person reads before a yes: the one argument that matters, else all of them. */
export function summaryOf(args: JsonObject): string {
  const main = [args.command, args.path, args.url].find((value) => typeof value === "string");
  const text = typeof main === "string" && Object.keys(args).length <= 2 ? main : JSON.stringify(args, null, 1);
  return text.length <= SUMMARY_CHARS
    ? text
    : `${text.slice(0, SUMMARY_CHARS).toWellFormed()}… (${text.length} characters)`;
}

/** Makes a call again that was approved after it had been closed for another message. */
export async function takeUpApproved(work: Work): Promise<void> {
  const { agent, item } = work;
  const log = await sinceStart(work);
  if (!log.some((entry) => askedIn(entry)?.item === item.id)) return;
  const heard = log.find((entry) => isUser(entry) && entry.message.key === item.message.key);
  if (heard === undefined) return;
  const by = { ...splitName(agent.model.name), api: "none", usage: NO_USAGE };
  const again = approvedLate(log, { item: item.id, heard: heard.id, by, nowMs: agent.world.nowMs() });
  if (again !== undefined) await append(work, [again]);
}
