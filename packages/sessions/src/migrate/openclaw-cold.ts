/**
 * OpenClaw's cold storage: transcripts that were moved out of its database into `cold/<sha256>.jsonl.zst`.
 *
 * Whose one is, its own header says; where it has none, the row that names its hash.
 * Invariant: each file is given out once, or named as unreadable; memory holds a piece of one, however large it is.
 */
import { createReadStream, existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { isObject, makePrivateDirectory, messageOf, tryParse } from "@holdfast/base";
import type { ImportPlace } from "../keeping/import.ts";
import { NewFile } from "../keeping/new-file.ts";

interface ColdFile {
  readonly id: string;
  readonly source: string;
  readonly atMs: number;
}

export interface ColdStorage {
  /** Writes the transcript of a session to `target`, unless that is there; the number of its lines, 0 when none is stored. */
  thaw(sessionId: string, target: string): Promise<number>;
  /** Those that nobody asked for. */
  rest(): readonly ColdFile[];
  readonly unreadable: readonly { readonly source: string; readonly why: string }[];
}

/** `rows`: what the database says of them, whatever its columns are called. */
export async function coldStorage(
  sessionsFolder: string,
  rows: readonly Readonly<Record<string, unknown>>[],
  place: ImportPlace,
): Promise<ColdStorage> {
  const folder = join(sessionsFolder, "cold");
  const files = new Map<string, ColdFile>();
  const unreadable: { source: string; why: string }[] = [];
  for (const name of existsSync(folder) ? (await readdir(folder)).toSorted() : []) {
    const source = join(folder, name);
    const hash = /^([0-9a-f]{64})\.jsonl\.zst$/.exec(name)?.[1];
    if (hash === undefined) continue;
    try {
      const id = (await headerId(source)) ?? namedIn(rows, hash) ?? `cold-${hash.slice(0, 12)}`;
      files.set(id, { id, source, atMs: Math.floor((await stat(source)).mtimeMs) });
    } catch (error) {
      unreadable.push({ source, why: messageOf(error) });
    }
  }
  const taken = new Set<string>();
  return {
    unreadable,
    rest: () => [...files.values()].filter(({ id }) => !taken.has(id)),
    async thaw(sessionId, target) {
      const file = files.get(sessionId);
      taken.add(sessionId);
      if (file === undefined) return 0;
      return writeThawed(file.source, target, place).catch((error: unknown) => {
        unreadable.push({ source: file.source, why: messageOf(error) });
        return 0;
      });
    },
  };
}

function namedIn(rows: readonly Readonly<Record<string, unknown>>[], hash: string): string | undefined {
  const row = rows.find((one) => Object.values(one).some((value) => typeof value === "string" && value.includes(hash)));
  return typeof row?.session_id === "string" ? row.session_id : undefined;
}

const HEADER_BYTES_MAX = 64 * 1024;

async function headerId(source: string): Promise<string | undefined> {
  let begin = Buffer.alloc(0);
  await each(source, async (piece) => {
    begin = Buffer.concat([begin, piece.subarray(0, HEADER_BYTES_MAX)]);
    return begin.length < HEADER_BYTES_MAX && !begin.includes("\n");
  });
  const header = tryParse(begin.toString("utf8").split("\n", 1)[0] ?? "");
  return isObject(header) && header.type === "session" && typeof header.id === "string" ? header.id : undefined;
}

async function writeThawed(source: string, target: string, { world, disk }: ImportPlace): Promise<number> {
  await makePrivateDirectory(dirname(target));
  await using file = await NewFile.beside(target, world, disk);
  let lines = 0;
  await each(source, async (piece) => {
    for (const byte of piece) if (byte === 0x0a) lines += 1;
    await file.write(piece);
    return true;
  });
  await file.finish();
  await file.name(target);
  return Math.max(1, lines);
}

/** Unpacked pieces, until `take` has enough. */
async function each(source: string, take: (piece: Buffer) => Promise<boolean>): Promise<void> {
  const unpack = process.getBuiltinModule("node:zlib").createZstdDecompress();
  const state = { hasEnough: false };
  await pipeline(createReadStream(source), unpack, async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) {
      state.hasEnough = !(await take(piece));
      if (state.hasEnough) return;
    }
  }).catch((error: unknown) => {
    // Whoever stops reading early ends the pipe before its end.
    if (!state.hasEnough) throw error;
  });
}
