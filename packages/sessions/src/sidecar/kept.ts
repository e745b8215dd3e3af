/**
 * What the index beside a bare file tells, where there is one: nothing is made and nothing is kept.
 * Invariant: what is answered was read from the transcript itself, at places that the index named.
 */
import { realWorld } from "@holdfast/base";
import type { Settings } from "../projection.ts";
import type { ByteSource } from "../reading/source.ts";
import type { Disk } from "../stores/file/disk.ts";
import { LineIndex } from "./line-index.ts";
import { settingsAt } from "./look.ts";
import { outlineOfIndex, WrongPlace } from "./outline.ts";
import { loadSidecar } from "./sidecar-file.ts";

/** Model and thinking level at an entry of the transcript at `path`; undefined: there is no index, or none to be believed. */
export async function keptSettings(
  disk: Disk,
  { path, source }: { readonly path: string; readonly source: ByteSource },
  id: string,
): Promise<Settings | undefined> {
  const mark = await disk.stat(path).catch(() => undefined);
  if (mark === undefined || Number(mark.size) !== source.size) return undefined;
  const { dev, ino, mtimeNs, ctimeNs } = mark;
  const place = { disk, world: realWorld() };
  const slots = await loadSidecar(place, path, { dev, ino, mtimeNs, ctimeNs, size: source.size });
  if (slots === undefined) return undefined;
  const index = await LineIndex.restored(slots, source.size, source);
  if (index.isOdd) return undefined;
  try {
    const tree = outlineOfIndex(index, source);
    const node = await tree.find(id);
    return node === -1 ? undefined : await settingsAt(tree, node);
  } catch (error) {
    if (error instanceof WrongPlace) return undefined;
    throw error;
  }
}
