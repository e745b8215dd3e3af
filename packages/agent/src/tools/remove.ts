/**
 * The `delete` and `move` tools: one file of the workspace goes, or gets another name.
 * Invariant: what stood there is noted before, so that afterwards the places themselves tell what became of it.
 */
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { isObject, type JsonObject, syncDirectory } from "@holdfast/base";
import { z } from "zod";
import type { Probe, Tool, ToolContext } from "../types.ts";
import { argumentsOf } from "./arguments.ts";
import { type FileState, readState, untouched } from "./file-state.ts";
import { type Place, placeIn, readOnlyRefusal } from "./paths.ts";
import { refused } from "./write.ts";

type Inside = Extract<Place, { readonly kind: "inside" }>;
const CHANGED = "Nothing was done: the file was changed by somebody else just now. Look at it again.";
const REFUSED = { kind: "absent", says: "The call had been refused; nothing was to be done." } as const;

/** A file that is there and may go, or why not. */
async function leaving(workspace: string, path: string): Promise<Place> {
  const place = await placeIn(workspace, path);
  if (place.kind === "refused") return place;
  if (place.stat === null) return { kind: "refused", text: `${path} does not exist.` };
  const readOnly = await readOnlyRefusal(place);
  return readOnly === null ? place : { kind: "refused", text: `Nothing was done: ${readOnly}.` };
}

const one = z.strictObject({ path: z.string().describe("File, relative to the workspace") });

export function deleteTool(): Tool {
  const { spec, check, parse } = argumentsOf("delete", "Delete one file of the workspace.", one);
  return {
    spec,
    check,
    effect: "checkable",
    async prepare(args, { workspace }): Promise<JsonObject> {
      const place = await leaving(workspace, parse(args).path);
      return place.kind === "refused" ? { refused: place.text } : { before: (await readState(place.path)).state };
    },
    async probe(args, evidence, context) {
      if (!isObject(evidence.before)) return { ...REFUSED, evidence };
      const place = await placeIn(context.workspace, parse(args).path);
      if (place.kind === "refused") return { kind: "unknown", evidence: { refused: place.text }, says: place.text };
      const { state } = await readState(place.path);
      const found: JsonObject = { path: place.shown, now: state, before: evidence.before };
      if (!state.exists)
        return { kind: "happened", outcome: { ok: true, text: `${place.shown} is gone.` }, evidence: found };
      if (untouched(state, evidence.before))
        return { kind: "absent", evidence: found, says: `${place.shown} is there as it was before the call.` };
      const says = `${place.shown} is there and was touched since. Look at it, then decide with the person.`;
      return { kind: "conflict", evidence: found, says };
    },
    async run(args, evidence, context) {
      const place = await leaving(context.workspace, parse(args).path);
      if (place.kind === "refused") return refused(place.text);
      if (!untouched((await readState(place.path)).state, evidence.before)) return refused(CHANGED);
      await rm(place.path);
      context.world.at("delete:after-remove");
      await syncDirectory(dirname(place.path));
      return { ok: true, text: `Deleted ${place.shown}.` };
    },
  };
}

const two = z.strictObject({
  from: z.string().describe("File, relative to the workspace"),
  to: z.string().describe("Its new name; nothing may be there yet; missing directories are created"),
});

interface Move {
  readonly from: Inside;
  readonly to: Inside;
}

async function planMove(workspace: string, { from, to }: z.infer<typeof two>): Promise<Move | string> {
  const source = await leaving(workspace, from);
  if (source.kind === "refused") return source.text;
  const target = await placeIn(workspace, to);
  if (target.kind === "refused") return target.text;
  if (target.stat !== null) return `Nothing was moved: ${to} exists already. Delete it first, or choose another name.`;
  const readOnly = await readOnlyRefusal(target);
  return readOnly === null ? { from: source, to: target } : `Nothing was moved: ${readOnly}.`;
}

export function moveTool(): Tool {
  const { spec, check, parse } = argumentsOf("move", "Move or rename one file of the workspace.", two);
  return {
    spec,
    check,
    effect: "checkable",
    async prepare(args, { workspace }): Promise<JsonObject> {
      const plan = await planMove(workspace, parse(args));
      return typeof plan === "string" ? { refused: plan } : { before: (await readState(plan.from.path)).state };
    },
    probe: (args, evidence, context) => probeMove(parse(args), evidence, context),
    async run(args, evidence, context) {
      const plan = await planMove(context.workspace, parse(args));
      if (typeof plan === "string") return refused(plan);
      if (!untouched((await readState(plan.from.path)).state, evidence.before)) return refused(CHANGED);
      await mkdir(dirname(plan.to.path), { recursive: true });
      await rename(plan.from.path, plan.to.path);
      context.world.at("move:after-rename");
      for (const directory of new Set([dirname(plan.to.path), dirname(plan.from.path)])) await syncDirectory(directory);
      return { ok: true, text: `Moved ${plan.from.shown} to ${plan.to.shown}.` };
    },
  };
}

/** A rename keeps content, inode and times of change of the content: the file is recognised at its new place. */
async function probeMove(
  { from, to }: z.infer<typeof two>,
  evidence: JsonObject,
  { workspace }: ToolContext,
): Promise<Probe> {
  const { before } = evidence;
  if (!isObject(before)) return { ...REFUSED, evidence };
  const [source, target] = [await placeIn(workspace, from), await placeIn(workspace, to)];
  if (source.kind === "refused" || target.kind === "refused") {
    const text = source.kind === "refused" ? source.text : (target as { readonly text: string }).text;
    return { kind: "unknown", evidence: { refused: text }, says: text };
  }
  const [left, came] = [(await readState(source.path)).state, (await readState(target.path)).state];
  const found: JsonObject = { from: left, to: came, before: before as JsonObject };
  if (!left.exists && isSame(came, before))
    return {
      kind: "happened",
      outcome: { ok: true, text: `${target.shown} is the file that was ${source.shown}.` },
      evidence: found,
    };
  if (untouched(left, before as JsonObject) && !came.exists)
    return { kind: "absent", evidence: found, says: `${source.shown} is where it was, untouched.` };
  const says = `${source.shown} and ${target.shown} are not as this call left or found them. Look at both, then decide with the person.`;
  return { kind: "conflict", evidence: found, says };
}

function isSame(now: FileState, before: Readonly<Record<string, unknown>>): boolean {
  if (!now.exists) return false;
  return (["sha256", "size", "inode", "mtimeNs"] as const).every((field) => now[field] === before[field]);
}
