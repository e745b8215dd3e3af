/**
 * What a model gets of the files that came with a message: pictures as pictures, everything as a path it can read.
 *
 * Invariant: a message is heard whatever became of its files meanwhile; what is gone or too large is named as that.
 */
import { readFile, stat } from "node:fs/promises";
import { LIMITS, messageOf } from "@holdfast/base";
import type { ContentBlock } from "@holdfast/sessions";
import { placeIn } from "./tools/paths.ts";
import type { Attachment } from "./types.ts";

const PICTURES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** One line for each file, and the pictures that are not too large, in their order. Never rejects. */
export async function blocksOf(
  attachments: readonly Attachment[],
  workspace: string,
): Promise<readonly ContentBlock[]> {
  if (attachments.length === 0) return [];
  const lines: string[] = [];
  const pictures: ContentBlock[] = [];
  let left: number = LIMITS.imagesBytesMax;
  for (const attachment of attachments) {
    const { name, type, bytes, path } = attachment;
    const found = await contentOf(attachment, { workspace, left });
    if (found.kind === "picture") {
      left -= bytes;
      pictures.push({ type: "image", data: found.data, mimeType: type });
    }
    const note = found.kind === "file" && found.note !== null ? `; ${found.note}` : "";
    lines.push(`[attached: ${path} ("${name}", ${type}, ${bytes} bytes${note})]`);
  }
  return [{ type: "text", text: lines.join("\n") }, ...pictures];
}

type Content =
  | { readonly kind: "picture"; readonly data: string }
  | { readonly kind: "file"; readonly note: string | null };

async function contentOf(
  { type, path }: Attachment,
  { workspace, left }: { readonly workspace: string; readonly left: number },
): Promise<Content> {
  try {
    const place = await placeIn(workspace, path);
    if (place.kind === "refused") return { kind: "file", note: place.text };
    const { size } = place.stat ?? (await stat(place.path));
    if (!PICTURES.has(type)) return { kind: "file", note: null };
    if (size > LIMITS.imageBytesMax || size > left) return { kind: "file", note: "too large to be shown" };
    return { kind: "picture", data: (await readFile(place.path)).toString("base64") };
  } catch (error) {
    return { kind: "file", note: `it cannot be read any more: ${messageOf(error)}` };
  }
}
