/**
 * What a model gets of the files that came with a message: pictures as pictures, as small as every provider takes them,
 * everything as a path it can read.
 *
 * Invariant: a message is heard whatever became of its files meanwhile; what is gone or too large is named as that.
 */
import { readFile, stat } from "node:fs/promises";
import { LIMITS, messageOf } from "@holdfast/base";
import type { ContentBlock } from "@holdfast/sessions";
import { factsOf } from "./context/hygiene/picture.ts";
import { shrink } from "./shrink.ts";
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
    const { picture, note } = await contentOf(attachment, { workspace, left });
    if (picture !== null) {
      left -= picture.bytes;
      pictures.push({ type: "image", data: picture.data, mimeType: picture.mimeType });
    }
    lines.push(`[attached: ${path} ("${name}", ${type}, ${bytes} bytes${note === null ? "" : `; ${note}`})]`);
  }
  return [{ type: "text", text: lines.join("\n") }, ...pictures];
}

interface Picture {
  /** Base64. */
  readonly data: string;
  readonly mimeType: string;
  readonly bytes: number;
}
interface Content {
  readonly picture: Picture | null;
  readonly note: string | null;
}

const TOO_LARGE: Content = { picture: null, note: "too large to be shown" };

async function contentOf(
  { type, path }: Attachment,
  { workspace, left }: { readonly workspace: string; readonly left: number },
): Promise<Content> {
  try {
    const place = await placeIn(workspace, path);
    if (place.kind === "refused") return { picture: null, note: place.text };
    const { size } = place.stat ?? (await stat(place.path));
    if (!PICTURES.has(type)) return { picture: null, note: null };
    if (size > LIMITS.attachmentBytesMax) return TOO_LARGE;
    const content = pictureOf(await readFile(place.path));
    const shown = content === null ? null : await fitting(content);
    if (shown === null) return content === null ? { picture: null, note: "not a picture that can be read" } : TOO_LARGE;
    if (shown.bytes > left) return TOO_LARGE;
    return { picture: shown, note: shown === content ? null : "shown smaller than it is" };
  } catch (error) {
    return { picture: null, note: `it cannot be read any more: ${messageOf(error)}` };
  }
}

interface Seen extends Picture {
  readonly edge: number;
  readonly file: Buffer;
}

/** By its bytes, not by what its sender called it. */
function pictureOf(file: Buffer): Seen | null {
  const facts = factsOf({ type: "image", data: file.toString("base64"), mimeType: "" });
  if (facts === null) return null;
  const { data, mimeType, bytes, width, height } = facts;
  return { data, mimeType, bytes, edge: Math.max(width, height), file };
}

/** As it is, or smaller; null where it is too large and cannot be made smaller. */
async function fitting(picture: Seen): Promise<Picture | null> {
  if (picture.bytes <= LIMITS.imageSentBytesMax && picture.edge <= LIMITS.imageEdgeMax) return picture;
  const small = await shrink(picture.file);
  if (small === null) return picture.bytes <= LIMITS.imageBytesMax ? picture : null;
  return { data: small.data.toString("base64"), mimeType: small.mimeType, bytes: small.data.length };
}
