/**
 * Context: everything a question to the model is made of, and what is known about it.
 *
 * path → project → hygiene → request. Pure over what is loaded, but for the workspace's files.
 */
import { splitName } from "../model/answers.ts";
import type { ModelRequest } from "../types.ts";
import type { Work } from "../work.ts";
import { familyOf } from "./hygiene/families.ts";
import { mend } from "./hygiene/hygiene.ts";
import type { RequestFacts } from "./report/types.ts";
import { systemPrompt } from "./system-prompt.ts";
import { workspaceFiles } from "./workspace-files.ts";

/** The request for the conversation as it stands at `leaf`, with what went into it. */
export async function buildRequest({ agent, session }: Work, leaf: string | null): Promise<RequestFacts> {
  const context = await session.context(leaf === null || leaf === session.leaf() ? {} : { leaf });
  const tools = [...agent.tools.values()].map((tool) => tool.spec);
  const files = await (agent.workspaceFiles ?? workspaceFiles)(agent.workspace);
  const system = systemPrompt({ agentId: agent.id, workspace: agent.workspace, tools, files }).toWellFormed();
  const target = { ...splitName(agent.model.name), api: agent.model.api ?? null };
  const mended = mend(context.messages, target);
  const request: ModelRequest = { system, messages: mended.messages, tools, sessionId: session.id };
  const idOf = (from: number | null): string | null => (from === null ? null : (context.entryIds[from] ?? null));
  return {
    request,
    family: familyOf(target),
    leaf,
    sections: [{ name: "system", text: system }],
    files: [],
    sources: mended.from.map(idOf),
    leftOut: context.report.leftOut,
    changed: mended.changed.map(({ from, why }) => ({ id: idOf(from), why })),
    limits: {},
  };
}
