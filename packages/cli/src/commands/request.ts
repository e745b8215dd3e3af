/** `holdfast session context NAME --request N`: one request that was made, from what is kept beside the transcript. */
import { type KeptRequest, type RequestReport, readRequests, rebuild, storedMessage } from "@holdfast/agent/internal";
import { openTranscript } from "@holdfast/sessions";
import type { CommandContext } from "../context.ts";
import { CliError, EXIT, type ExitCode } from "../errors.ts";
import { drawRequest, type ShownRequest } from "../request-view.ts";
import type { StoredSession } from "../stores.ts";

/** Of a transcript, oldest first; empty where nothing is kept. */
export async function reportsOf(file: string): Promise<readonly RequestReport[]> {
  return (await readRequests(file)).requests.map(({ report }) => report);
}

/** `{ report, request: { system, messages, tools } | null, missing, kept: { first, last } }`. Throws `request_unknown`. */
export async function showRequest(
  context: CommandContext,
  { key, file }: StoredSession,
  asked: number | "last",
): Promise<ExitCode> {
  const { requests, texts } = await readRequests(file);
  const kept = asked === "last" ? requests.at(-1) : requests.find(({ report }) => report.n === asked);
  const [first, last] = [requests[0]?.report.n ?? null, requests.at(-1)?.report.n ?? null];
  if (kept === undefined) {
    const there = first === null ? "none is kept" : `${first} to ${last} are kept`;
    throw new CliError("request_unknown", { n: asked, key, there });
  }
  const stored = await storedTexts(context, file, kept);
  const result = rebuild(kept, texts, (id) => stored.get(id));
  const request = result.kind === "rebuilt" ? result.request : null;
  const missing = result.kind === "rebuilt" ? [] : result.missing;
  const shown: ShownRequest = {
    report: kept.report,
    missing,
    messages: kept.pieces.messages.map(({ tokens, entryId, sha256 }, at) => ({
      tokens,
      entryId,
      message:
        request?.messages[at] ?? parsed(texts.get(sha256) ?? (entryId === null ? undefined : stored.get(entryId))),
    })),
  };
  context.output.result({ report: kept.report, request, missing, kept: { first, last } }, (paint) =>
    drawRequest(shown, paint, context.world.nowMs()),
  );
  return EXIT.ok;
}

function parsed(text: string | undefined): unknown {
  return text === undefined ? null : JSON.parse(text);
}

/** The messages of the entries that it was made of, as they stand in the transcript. */
async function storedTexts(
  { world }: CommandContext,
  file: string,
  { pieces }: KeptRequest,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  const wanted = new Set(pieces.messages.flatMap(({ entryId }) => (entryId === null ? [] : [entryId])));
  await using session = await openTranscript(file, {}, world);
  for await (const entry of session.newestFirst()) {
    if (wanted.size === 0) break;
    if (!wanted.delete(entry.id)) continue;
    const message = storedMessage(entry);
    if (message !== undefined) texts.set(entry.id, JSON.stringify(message));
  }
  return texts;
}
