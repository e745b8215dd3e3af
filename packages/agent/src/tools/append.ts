/**
 * The `append` tool: text at the end of a file in the workspace.
 * Invariant: the whole file that shall be there is planned before anything is written, so that a crash leaves the old content
 * or the new one, and the file itself tells which.
 */
import { type JsonObject, sha256 } from "@holdfast/base";
import { z } from "zod";
import type { Tool } from "../types.ts";
import { argumentsOf } from "./arguments.ts";
import { readState } from "./file-state.ts";
import { placeIn, readOnlyRefusal } from "./paths.ts";
import { replaceFile } from "./replace.ts";
import { bytesOf, probeFile, refused } from "./write.ts";

const schema = z.strictObject({
  path: z.string().describe("File, relative to the workspace; created when it is missing"),
  content: z.string().min(1).describe("What to add; begin or end it with a line break where one is meant"),
});

export function appendTool(): Tool {
  const { spec, check, parse } = argumentsOf("append", "Add text at the end of a file in the workspace.", schema);
  const planned = async (workspace: string, args: JsonObject) => {
    const { path, content } = parse(args);
    const place = await placeIn(workspace, path);
    if (place.kind === "refused") return place;
    const readOnly = await readOnlyRefusal(place);
    if (readOnly !== null) return { kind: "refused", text: `Nothing was added: ${readOnly}.` } as const;
    const { state, bytes } = await readState(place.path);
    return { kind: "planned", place, state, bytes: Buffer.concat([bytes, bytesOf(content)]) } as const;
  };
  return {
    spec,
    check,
    effect: "checkable",
    async prepare(args, { workspace }): Promise<JsonObject> {
      const plan = await planned(workspace, args);
      return plan.kind === "refused" ? { refused: plan.text } : { before: plan.state, planned: sha256(plan.bytes) };
    },
    probe: (args, evidence, context) => probeFile(parse(args).path, evidence, context),
    async run(args, evidence, context) {
      const plan = await planned(context.workspace, args);
      if (plan.kind === "refused") return refused(plan.text);
      if (sha256(plan.bytes) !== evidence.planned)
        return refused("Nothing was added: the file was changed by somebody else just now. Read it again.");
      await replaceFile(plan.place.path, plan.bytes, { context, before: plan.place.stat });
      return { ok: true, text: `Added ${bytesOf(parse(args).content).length} bytes to ${plan.place.shown}.` };
    },
  };
}
