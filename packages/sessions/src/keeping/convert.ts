/**
 * Other layouts and older versions as a transcript of version 3, in a new file beside the old.
 * Invariant: the old file is only read; the new one names it (`parentSession`) and converting twice gives the same file.
 */
import { resolve } from "node:path";
import { realWorld, type World } from "@holdfast/base";
import { openSource } from "../reading/source.ts";
import { type Disk, realDisk } from "../stores/file/disk.ts";
import { openIncoming } from "./incoming.ts";
import { type RepairReport, type RepairOptions, withoutSuffix, writePieces } from "./repair.ts";

/**
 * Writes `<name>.v3.jsonl`, or `options.target`. `repaired` in the report is the new file, always. Rights of another
 * store (`g`, `t`) are left out. Throws what reading the file throws, and `not_importable`, `write_failed`.
 */
export async function convertTranscript(
  file: string,
  options: RepairOptions & { readonly id?: string } = {},
  world: World = realWorld(),
  disk: Disk = realDisk,
): Promise<RepairReport> {
  await using incoming = await openIncoming(file, disk);
  await using source = await openSource(file, disk);
  const target = options.target ?? `${withoutSuffix(file)}.v3.jsonl`;
  const pieces = incoming.pieces({
    header: (header) => ({ ...header, id: options.id ?? header.id, parentSession: resolve(file) }),
  });
  const rewrite = { file, source, pieces, target, always: true, onProgress: options.onProgress };
  return await writePieces(rewrite, { world, disk });
}
