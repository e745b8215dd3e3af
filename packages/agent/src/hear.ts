/**
 * The message goes into the log, as it was written, before any model is asked.
 * Invariant: it carries the message's key, so a redelivery or a second life finds it instead of writing it again.
 */
import type { ContentBlock, NewEntry } from "@holdfast/sessions";
import { settingsOf } from "./context/bootstrap/settings.ts";
import { envelopeOf } from "./context/envelope.ts";
import { blocksOf } from "./attachments.ts";
import { splitName } from "./model/answers.ts";
import { openCalls } from "./next-step.ts";
import { type Performed, perform } from "./perform.ts";
import type { Message } from "./types.ts";
import { append, type Work } from "./work.ts";

/** Appends the user entries of these messages; calls that an earlier item left open are closed first. */
export async function hear(work: Work, keys: readonly string[]): Promise<Performed> {
  const closed = await closeLeftOver(work);
  if (closed.kind === "busy") return closed;
  const messages = [work.item, ...work.joined].map(({ message }) => message);
  const heard = messages.filter(({ key }) => keys.includes(key));
  const { workspace } = work.agent;
  const { sessionKey } = work.item;
  const { timezone } = settingsOf(work.agent);
  const entries = await Promise.all(
    heard.map(async (message) => [
      ...gaveWay(message),
      userEntry(message, {
        attached: await blocksOf(message.attachments ?? [], workspace),
        envelope: envelopeOf(message, { sessionKey, timezone }),
      }),
    ]),
  );
  await append(work, [...(await settings(work)), ...entries.flat()]);
  return closed;
}

/** Nothing that enters the context may come between a call and its result. Other programs' calls (no `g`) are completed in memory only. */
async function closeLeftOver(work: Work): Promise<Performed> {
  const log = work.session.path();
  for (const open of openCalls(log)) {
    if (open.answer.g === undefined) continue;
    const closed = await perform(work, open, { log, closing: "the work it belonged to was given up." });
    if (closed.kind === "busy") return closed;
  }
  return { kind: "done" };
}

/** A new transcript names its model and thinking level first; later a change of model is noted. */
async function settings({ session, agent }: Work): Promise<readonly NewEntry[]> {
  const { model } = await session.context();
  const { provider, model: modelId } = splitName(agent.model.name);
  const change: NewEntry = { type: "model_change", provider, modelId };
  if (model === null) return [change, { type: "thinking_level_change", thinkingLevel: "off" }];
  return model.provider === provider && model.modelId === modelId ? [] : [change];
}

/** What was never taken up is not in the log; that it was written is. */
function gaveWay({ dropped = [] }: Message): readonly NewEntry[] {
  if (dropped.length === 0) return [];
  const lines = dropped.map((line) => `- ${line}`).join("\n");
  const content = `${dropped.length} earlier message(s) were dropped because too many were waiting. They began:\n${lines}`;
  return [{ type: "custom_message", customType: "holdfast:dropped", content, display: true }];
}

/** The text as written, then what came with it; who sent it and whence stands beside it. */
function userEntry(
  { key, text, from, address, receivedMs }: Message,
  { attached, envelope }: { readonly attached: readonly ContentBlock[]; readonly envelope: string },
): NewEntry {
  const content = [...(text === "" ? [] : [{ type: "text", text } as const]), ...attached];
  return {
    type: "message",
    message: { role: "user", content, timestamp: receivedMs, key, envelope },
    from,
    address,
  };
}
