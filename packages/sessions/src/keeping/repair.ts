/**
 * Repair: beside a damaged transcript, a new one that is sound, and the bytes that could not be used.
 * Invariant: the damaged file is only read; nothing that exists is overwritten; repairing twice gives the same files.
 */
import { basename } from "node:path";
import { realWorld, type World } from "@holdfast/base";
import { type ByteSource, openSource } from "../reading/source.ts";
import { readWhole } from "../reading/whole.ts";
import { type Disk, type Place, realDisk } from "../stores/file/disk.ts";
import { refuseOther } from "../transcript.ts";
import { cleaned } from "./clean.ts";
import { NewFile } from "./new-file.ts";
import { copyRange, namedFree } from "./files.ts";
import type { Change, Piece } from "./piece.ts";

export interface RepairReport {
  /** What was read. */
  readonly file: string;
  /** The sound transcript; null: the file needs no repair and nothing was written. */
  readonly repaired: string | null;
  /** Bytes of the lines that could not be used, one after the other in the order of `changes`; null: there are none. */
  readonly damaged: string | null;
  readonly entries: number;
  readonly changes: readonly Change[];
}

export interface RepairOptions {
  /** Where to write; left out: `<name>.repaired.jsonl` beside the file. Another free name is taken when that is in use. */
  readonly target?: string;
  /** Told now and then how far reading got. */
  readonly onProgress?: (done: { readonly bytes: number; readonly of: number }) => void;
}

/** Throws `file_missing`, `not_a_file`, `read_failed`, `not_a_transcript`, `write_failed`. */
export async function repairTranscript(
  file: string,
  options: RepairOptions = {},
  world: World = realWorld(),
  disk: Disk = realDisk,
): Promise<RepairReport> {
  await using source = await openSource(file, disk);
  const whole = await readWhole(source);
  refuseOther(file, whole);
  const target = options.target ?? `${withoutSuffix(file)}.repaired.jsonl`;
  const pieces = cleaned(source, { fallbackId: sessionIdOf(file) ?? "repaired" }, whole);
  const rewrite = { file, source, pieces, target, always: false, onProgress: options.onProgress };
  return await writePieces(rewrite, { world, disk });
}

export interface Rewrite {
  readonly file: string;
  readonly source: ByteSource;
  readonly pieces: AsyncIterable<Piece>;
  readonly target: string;
  /** Write also when nothing differs. */
  readonly always: boolean;
  readonly onProgress: RepairOptions["onProgress"] | undefined;
}

/** Writes what a file became to a new one, and beside it the bytes that could not be used. */
export async function writePieces(rewrite: Rewrite, { world, disk }: Place): Promise<RepairReport> {
  const { file, source, target, onProgress } = rewrite;
  await using sound = await NewFile.beside(target, world, disk);
  await using aside = await NewFile.beside(`${target}.damaged`, world, disk);
  const changes: Change[] = [];
  let entries = 0;
  for await (const piece of rewrite.pieces) {
    if (piece.kind === "line") {
      await sound.write(piece.text);
      entries += piece.id === null ? 0 : 1;
      continue;
    }
    changes.push(piece.change);
    if (piece.aside) await copyRange(source, piece.change, aside);
    if (changes.length % CHANGES_PER_REPORT === 0) onProgress?.({ bytes: piece.change.offset, of: source.size });
  }
  onProgress?.({ bytes: source.size, of: source.size });
  if (changes.length === 0 && !rewrite.always) return { file, repaired: null, damaged: null, entries, changes };
  // The bytes first: who finds the repaired file finds them too.
  const damaged = aside.bytes === 0 ? null : await namedFree(aside, `${withoutSuffix(target)}.damaged`);
  const repaired = await namedFree(sound, target);
  return { file, repaired, damaged, entries, changes };
}

const CHANGES_PER_REPORT = 1000;

export function withoutSuffix(file: string): string {
  return file.replace(/\.jsonl$/, "");
}

/** The session id that a file is named after, where it is named after one. */
export function sessionIdOf(file: string): string | undefined {
  const name = withoutSuffix(basename(file));
  const afterTime = /^\d{4}-\d\d-\d\dT[\d-]+Z_(.+)$/.exec(name)?.[1] ?? name;
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(afterTime) ? afterTime : undefined;
}
