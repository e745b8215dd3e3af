/**
 * Context: everything a question to the model is made of, and what is known about it.
 *
 * path → project → hygiene → request. Pure over what is loaded, but for the workspace's files.
 */
import type { EntryMessage } from "@holdfast/sessions";
import { splitName } from "../model/answers.ts";
import type { Model, ModelRequest, ToolSpec } from "../types.ts";
import type { Work } from "../work.ts";
import { familyOf } from "./hygiene/families.ts";
import { mend } from "./hygiene/hygiene.ts";
import type { LeftOut, RequestFacts } from "./report/types.ts";
import { type Injection, injectionFor } from "./bootstrap/inject.ts";
import { settingsOf } from "./bootstrap/settings.ts";
import { inEnvelopes } from "./envelope.ts";
import { type Pruned, prune } from "./pruning/prune.ts";
import { joinSections, systemSections } from "./system-prompt.ts";

/** The request for the conversation as it stands at `leaf`, in the form that `model` takes, with what went into it. */
export async function buildRequest(
  work: Work,
  leaf: string | null,
  model: Pick<Model, "name" | "api" | "seesPictures" | "contextWindow"> = work.agent.model,
): Promise<RequestFacts> {
  const { agent, session } = work;
  const history = agent.history?.(work.item) ?? {};
  const context = await session.context({ ...history, ...(leaf === null || leaf === session.leaf() ? {} : { leaf }) });
  const window = await windowOf(model);
  const pruned = prunedFor(agent, context.messages, window);
  const tools = toolsOf(agent);
  const settings = settingsOf(agent);
  const { bootstrap, how } = await injectionFor(work, { leaf, compaction: context.report.compaction });
  const sections = systemSections({
    agentId: agent.id,
    workspace: agent.workspace,
    timezone: settings.timezone,
    tools,
    bootstrap: bootstrap?.sections ?? [],
  });
  const system = joinSections(sections);
  const pictures = (await model.seesPictures?.()) ?? true;
  const target = { ...splitName(model.name), api: model.api ?? null, pictures };
  const mended = mend(inEnvelopes(pruned.messages), target);
  const request: ModelRequest = { system, messages: mended.messages, tools, sessionId: session.id };
  const idOf = (from: number | null): string | null => (from === null ? null : (context.entryIds[from] ?? null));
  return {
    request,
    family: familyOf(target),
    leaf,
    compaction: context.report.compaction,
    sections,
    files: bootstrap?.files ?? [],
    sources: mended.from.map(idOf),
    leftOut: [...context.report.leftOut, ...noFiles(how)],
    changed: [
      ...pruned.cut.map(({ at, how }) => ({ id: idOf(at), why: `old_${how}` })),
      ...mended.changed.map(({ from, why }) => ({ id: idOf(from), why })),
    ],
    limits: {
      ...(history.maxMessages !== undefined && { maxHistoryMessages: history.maxMessages }),
      ...(history.maxTokens !== undefined && { maxHistoryTokens: history.maxTokens }),
      ...(window !== null && { contextWindow: window }),
      bootstrapMaxChars: settings.limits.maxChars,
      bootstrapTotalMaxChars: settings.limits.totalMaxChars,
    },
  };
}

/** Tokens; null: nobody knows. */
async function windowOf({ contextWindow }: Pick<Model, "contextWindow">): Promise<number | null> {
  const window = (await contextWindow?.()) ?? Number.POSITIVE_INFINITY;
  return Number.isFinite(window) ? window : null;
}

function prunedFor(
  { pruning, world }: Work["agent"],
  messages: readonly EntryMessage[],
  window: number | null,
): Pruned {
  if (pruning === undefined) return { messages, cut: [] };
  return prune(messages, { settings: pruning, window, nowMs: world.nowMs() });
}

/** That the workspace's files are not there, where they could be. */
function noFiles(how: Injection["how"]): readonly LeftOut[] {
  return how === "skipped" || how === "never" ? [{ id: null, why: `workspace_${how}` }] : [];
}

/** By name: servers that come and go must not change the order of the others, on which caches of prompts depend. */
function toolsOf({ tools }: Work["agent"]): readonly ToolSpec[] {
  return [...tools.values()].map(({ spec }) => spec).sort((a, b) => (a.name < b.name ? -1 : 1));
}
