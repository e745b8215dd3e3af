/**
 * A flat file as the bytes of the transcript that it becomes, before and after that file is there.
 *
 * Whoever reads it in the one form and goes on in the other finds every entry at the same offset.
 * Invariant: the bytes follow from the flat file alone, so two processes that make the transcript make the same one.
 */
import { sha256 } from "@holdfast/base";
import { readFlat } from "../../formats/flat.ts";
import { aboutEntry } from "../../keeping/about.ts";
import { type ByteSource, fileSource } from "../../reading/source.ts";
import type { Position, Since } from "../../store.ts";
import type { Disk } from "../file/disk.ts";
import { during } from "../file/storage-error.ts";
import type { FlatSession } from "./folders.ts";

/** All of it in memory: files of this layout are chats of one person, read as a whole by the programs that wrote them. */
export async function contentOf(disk: Disk, { key, path, row }: FlatSession, agentId: string): Promise<Buffer> {
  return during(path, "read", async () => {
    await using file = await disk.open(path, "read");
    const flat = await readFlat(await fileSource(file));
    const { sessionId: id, channel, chatType } = row;
    const header = { type: "session", version: 3, id, timestamp: flat.began, parentSession: path } as const;
    const about = aboutEntry(key, { agentId, channel, chatType }, flat.began);
    const lines: Buffer[] = [];
    for await (const piece of flat.pieces({ header, first: [about], from: "flat" })) {
      if (piece.kind === "line") lines.push(Buffer.from(piece.text));
    }
    return Buffer.concat(lines);
  });
}

const MARK = "flat ";
type FlatPosition = Position & string;

/** A position in a transcript that is not there yet: how much of it, and a digest of that. */
export function flatPosition(bytes: Buffer): FlatPosition {
  return `${MARK}${bytes.length} ${sha256(bytes)}` as FlatPosition;
}

export function isFlatPosition(position: Position | undefined): position is FlatPosition {
  return typeof position === "string" && position.startsWith(MARK);
}

/** What became of the content at a flat position. `moved`: it is the same, and a file now. */
export async function sinceFlat(before: FlatPosition, now: ByteSource): Promise<Since> {
  const [, size = "", digest] = before.split(" ");
  const length = Number(size);
  if (now.size < length || sha256(await now.read(0, length)) !== digest) return "rewritten";
  return now.size === length ? "moved" : "grown";
}
