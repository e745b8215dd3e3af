/** Whatever a transcript holds, each provider takes the request that is made of it. */
import type { EntryMessage } from "@holdfast/sessions";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Target } from "../../../src/context/hygiene/families.ts";
import { mend } from "../../../src/context/hygiene/hygiene.ts";
import { NEWEST, transcript } from "../../support/transcripts.ts";
import { chatOrder, problemsOf } from "../../support/validators.ts";
import { TARGETS, type WireApi, wireOf } from "../../support/wire.ts";

const APIS = Object.keys(TARGETS) as readonly WireApi[];
const RUNS = process.env.HOLDFAST_LARGE === "1" ? 5_000 : 120;

/** Thoughts of others, by text or signature. */
function foreignThoughts(body: unknown, { provider, model, api }: Target): readonly string[] {
  const readable = JSON.stringify(body).replace(/[A-Za-z0-9+/]{40,}={0,2}/g, (encoded) =>
    Buffer.from(encoded, "base64").toString("latin1"),
  );
  const own = `thought of ${provider}/${model} by ${api}`;
  return [...readable.matchAll(/thought of [^ ]+ by [a-z-]+/g)].flatMap(([whose]) => (whose === own ? [] : [whose]));
}

function expectWhole(stored: readonly EntryMessage[], target: Target): readonly EntryMessage[] {
  const before = structuredClone(stored);
  const once = mend(stored, target);
  expect(stored).toEqual(before);
  expect(mend(stored, target)).toEqual(once);
  const again = mend(once.messages, target);
  expect(again.messages).toEqual(once.messages);
  expect(again.messages.every((message, at) => message === once.messages[at])).toBe(true);
  expect(once.from).toHaveLength(once.messages.length);
  expect(JSON.stringify(once.messages.findLast(({ role }) => role === "user"))).toContain(NEWEST);
  expect(callsIn(once.messages)).toBe(callsIn(stored.filter((message) => !isBroken(message))));
  // Which result belongs to which call does not depend on who is asked.
  const own = mend(stored, { ...target, api: "scripted" });
  expect(resultsIn(once)).toEqual(resultsIn(own));
  return once.messages;
}

function resultsIn({ messages, from }: ReturnType<typeof mend>): readonly (number | null | undefined)[] {
  return messages.flatMap(({ role }, at) => (role === "toolResult" ? [from[at]] : []));
}

function isBroken(message: EntryMessage): boolean {
  return "stopReason" in message && (message.stopReason === "error" || message.stopReason === "aborted");
}

function callsIn(messages: readonly EntryMessage[]): number {
  const blocks = messages.flatMap(({ role, content }) =>
    role === "assistant" && Array.isArray(content) ? content : [],
  );
  return blocks.filter(({ type }) => type === "toolCall").length;
}

describe.each(APIS)("%s", (api) => {
  test("takes whatever comes of a random transcript, with the newest message in it", { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(transcript, async (stored) => {
        const body = await wireOf(expectWhole(stored, TARGETS[api]), api);
        expect(problemsOf(body, api)).toEqual([]);
        expect(JSON.stringify(body)).toContain(NEWEST);
        expect(foreignThoughts(body, TARGETS[api])).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});

const UNKNOWN: Target = { provider: "somebody", model: "something", api: null };
const DEVSTRAL: Target = { provider: "vllm", model: "mistralai/Devstral-Small-2", api: "openai-completions" };

test("a provider that nobody knows gets what all of them take", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(transcript, async (stored) => {
      const messages = expectWhole(stored, UNKNOWN);
      for (const api of APIS) expect(problemsOf(await wireOf(messages, api), api)).toEqual([]);
    }),
    { numRuns: RUNS / 4 },
  );
});

test("Mistral's order also where its models stand behind another address", { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(transcript, async (stored) => {
      const messages = expectWhole(stored, DEVSTRAL);
      expect(chatOrder(await wireOf(messages, "openai-completions"))).toEqual([]);
    }),
    { numRuns: RUNS / 4 },
  );
});
