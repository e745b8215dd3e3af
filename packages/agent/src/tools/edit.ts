/**
 * The `edit` tool: one exact passage of a text file is replaced by another.
 * Invariant: the passage must be there exactly once, so that what is changed is what was meant.
 */
import { type JsonObject, sha256 } from "@holdfast/base";
import { z } from "zod";
import type { Tool } from "../types.ts";
import { argumentsOf } from "./arguments.ts";
import { type FileState, readState } from "./file-state.ts";
import { type Place, placeIn, readOnlyRefusal } from "./paths.ts";
import { replaceFile } from "./replace.ts";
import { bytesOf, probeFile, refused } from "./write.ts";

const schema = z.strictObject({
  path: z.string().describe("File, relative to the workspace"),
  oldText: z.string().min(1).describe("The passage to replace, exactly as it stands, long enough to be unique"),
  newText: z.string().describe("What replaces it"),
});
type EditArgs = z.infer<typeof schema>;

type Plan =
  | { readonly kind: "refused"; readonly text: string }
  | {
      readonly kind: "planned";
      readonly place: Extract<Place, { readonly kind: "inside" }>;
      readonly before: FileState;
      readonly bytes: Uint8Array;
    };

export function editTool(): Tool {
  const description = "Replace one exact, unique passage of a text file in the workspace.";
  const { spec, check, parse } = argumentsOf("edit", description, schema);
  return {
    spec,
    check,
    effect: "checkable",
    async prepare(args, { workspace }): Promise<JsonObject> {
      const plan = await planEdit(workspace, parse(args));
      if (plan.kind === "refused") return { refused: plan.text };
      return { before: plan.before, planned: sha256(plan.bytes) };
    },
    probe: (args, evidence, context) => probeFile(parse(args).path, evidence, context),
    async run(args, evidence, context) {
      const plan = await planEdit(context.workspace, parse(args));
      if (plan.kind === "refused") return refused(plan.text);
      if (sha256(plan.bytes) !== evidence.planned) {
        return refused("Nothing was changed: the file was changed by somebody else just now. Read it again.");
      }
      await replaceFile(plan.place.path, plan.bytes, { context, before: plan.place.stat });
      return { ok: true, text: `Replaced one passage in ${plan.place.shown}.` };
    },
  };
}

async function planEdit(workspace: string, { path, oldText, newText }: EditArgs): Promise<Plan> {
  const place = await placeIn(workspace, path);
  if (place.kind === "refused") return place;
  if (place.stat === null) return { kind: "refused", text: `${path} does not exist. Use write to create it.` };
  const readOnly = await readOnlyRefusal(place);
  if (readOnly !== null) return { kind: "refused", text: `Nothing was changed: ${readOnly}.` };
  const { state, bytes } = await readState(place.path);
  const text = decoded(bytes);
  if (text === undefined) return { kind: "refused", text: `${path} is not UTF-8 text; nothing was changed.` };
  const at = text.indexOf(oldText);
  if (at < 0 || text.indexOf(oldText, at + 1) >= 0) {
    const why = at < 0 ? "is not in the file" : "is there more than once; take a longer one";
    return { kind: "refused", text: `Nothing was changed: the passage ${why}. Read ${path} and try again.` };
  }
  const edited = text.slice(0, at) + newText + text.slice(at + oldText.length);
  return { kind: "planned", place, before: state, bytes: bytesOf(edited) };
}

/** Undefined for bytes that are not UTF-8: decoding and encoding them again would change what was not asked for. */
function decoded(bytes: Uint8Array): string | undefined {
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  return Buffer.from(text).equals(bytes) ? text : undefined;
}
