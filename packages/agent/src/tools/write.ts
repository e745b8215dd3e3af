/**
 * The `write` tool: a file in the workspace gets this content, whole.
 *
 * Invariant: before it writes it notes what is there, so that after a crash the file itself tells whether the write
 * happened, did not happen, or was overtaken by somebody else's.
 */
import { rm } from "node:fs/promises";
import { type JsonObject, sha256 } from "@holdfast/base";
import { z } from "zod";
import type { Probe, Tool, ToolContext, ToolOutcome } from "../types.ts";
import { argumentsOf } from "./arguments.ts";
import { readState, untouched } from "./file-state.ts";
import { placeIn, readOnlyRefusal } from "./paths.ts";
import { replaceFile, scrapOf } from "./replace.ts";

const schema = z.strictObject({
  path: z.string().describe("File, relative to the workspace; missing directories are created"),
  content: z.string().describe("The whole new content"),
});

export function writeTool(): Tool {
  const description = "Write a file in the workspace, replacing what is there.";
  const { spec, check, parse } = argumentsOf("write", description, schema);
  return {
    spec,
    check,
    effect: "checkable",
    async prepare(args, { workspace }): Promise<JsonObject> {
      const { path, content } = parse(args);
      const place = await placeIn(workspace, path);
      if (place.kind === "refused") return { refused: place.text };
      return { before: (await readState(place.path)).state, planned: sha256(bytesOf(content)) };
    },
    probe: (args, evidence, context) => probeFile(parse(args).path, evidence, context),
    async run(args, evidence, context) {
      const { path, content } = parse(args);
      const place = await placeIn(context.workspace, path);
      if (place.kind === "refused") return refused(place.text);
      if (evidence.planned === undefined) return refused("Nothing was written: the path changed meanwhile. Try again.");
      const readOnly = await readOnlyRefusal(place);
      if (readOnly !== null) return refused(`Nothing was written: ${readOnly}.`);
      const bytes = bytesOf(content);
      await replaceFile(place.path, bytes, { context, before: place.stat });
      return { ok: true, text: `Wrote ${bytes.length} bytes to ${place.shown}.` };
    },
  };
}

export function refused(text: string): ToolOutcome {
  return { ok: false, text };
}

/** Text as it goes to disk: half characters, which UTF-8 cannot hold, become U+FFFD. */
export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/**
 * What the file says about a write: `happened` when it holds exactly what was planned, `absent` when nobody touched it since
 * the evidence, else `conflict`. Authoritative at once: the action's lock excludes a writer that is still on its way.
 */
export async function probeFile(path: string, evidence: JsonObject, context: ToolContext): Promise<Probe> {
  if (evidence.planned === undefined) {
    return { kind: "absent", evidence, says: "The call had been refused; nothing was to be written." };
  }
  const place = await placeIn(context.workspace, path);
  if (place.kind === "refused") return { kind: "unknown", evidence: { refused: place.text }, says: place.text };
  const { state } = await readState(place.path);
  const found: JsonObject = {
    path: place.shown,
    now: state,
    before: evidence.before ?? null,
    planned: evidence.planned,
  };
  if (state.exists && state.sha256 === evidence.planned) {
    const text = `${place.shown} holds exactly the ${state.size} bytes that this call meant to leave there.`;
    return { kind: "happened", outcome: { ok: true, text }, evidence: found };
  }
  await rm(scrapOf(place.path, context.key), { force: true });
  if (untouched(state, evidence.before)) {
    return { kind: "absent", evidence: found, says: `${place.shown} is as it was before the call.` };
  }
  const holds = state.exists ? `was touched by somebody else and holds ${state.size} bytes now` : "is gone";
  const says = `${place.shown} ${holds}; it is not what this call meant to leave there. Read it, then decide with the person.`;
  return { kind: "conflict", evidence: found, says };
}
