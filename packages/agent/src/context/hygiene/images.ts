/**
 * Pictures: of a kind that the provider takes, by their bytes and not by what somebody said they are, and no larger and no
 * more than it takes. What does not fit is named as that, in its place.
 *
 * Invariant: one picture never makes a conversation unusable. Which old ones give way changes in steps, so that a request
 * goes on beginning like the one before it.
 */
import type { ContentBlock, EntryMessage, ImageBlock } from "@holdfast/sessions";
import type { ImageRule } from "./families.ts";
import { type Note, type Part, text } from "./parts.ts";
import { factsOf } from "./picture.ts";

/** Of the most that fit, this share stays when more came: the next ones have room. */
const STAYS = 0.75;
const NOT_IN_RESULTS = "this model takes none in results of calls";

export function withImages(parts: readonly Part[], rule: ImageRule, note: Note): readonly Part[] {
  const count = parts.reduce((sum, { message }) => sum + imagesIn(message).length, 0);
  if (count === 0) return parts;
  const fitting = parts.map((part) => {
    const taken = rule.inResults || part.message.role !== "toolResult";
    return eachImage(part, note, (image) => (taken ? soundImage(image, rule, count) : leftOut(NOT_IN_RESULTS)));
  });
  return withinBudget(fitting, rule, note);
}

function blocksOf(message: EntryMessage): readonly ContentBlock[] {
  return Array.isArray(message.content) ? (message.content as readonly ContentBlock[]) : [];
}

function imagesIn(message: EntryMessage): readonly ImageBlock[] {
  return blocksOf(message).filter((block): block is ImageBlock => block?.type === "image");
}

/** The part with another block for each picture. `change` gives the same block for one that stays. */
function eachImage(part: Part, note: Note, change: (image: ImageBlock) => ContentBlock): Part {
  if (imagesIn(part.message).length === 0) return part;
  const blocks = blocksOf(part.message);
  const content = blocks.map((block) => (block?.type === "image" ? change(block) : block));
  if (content.every((block, at) => block === blocks[at])) return part;
  if (content.some((block, at) => block !== blocks[at] && block.type === "text")) note(part.from, "image");
  return { ...part, message: { ...part.message, content } };
}

function soundImage(image: ImageBlock, rule: ImageRule, count: number): ContentBlock {
  const facts = factsOf(image);
  if (facts === null) return leftOut("it is not a picture that can be read");
  const { mimeType, bytes, width, height } = facts;
  if (rule.types.size === 0) return leftOut("this model takes none");
  if (!rule.types.has(mimeType)) return leftOut(`${mimeType} is not taken by this model`);
  if (bytes > rule.bytesMax) return leftOut(`${inMb(bytes)} are more than the ${inMb(rule.bytesMax)} that fit`);
  const edge = count > rule.manyFrom ? rule.manyEdgeMax : rule.edgeMax;
  if (Math.max(width, height) > edge) return leftOut(`${width}x${height} pixels are more than the ${edge} that fit`);
  return image.mimeType === mimeType && image.data === facts.data ? image : { ...image, mimeType, data: facts.data };
}

function leftOut(why: string): ContentBlock {
  return text(`[image left out: ${why}]`);
}

function inMb(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

/** The newest stay. Beyond the limits the oldest give way, some more than have to. */
function withinBudget(parts: readonly Part[], rule: ImageRule, note: Note): readonly Part[] {
  const sizes = parts.flatMap(({ message }) => imagesIn(message).map((image) => image.data.length));
  const gone = firstKept(sizes, rule);
  if (gone === 0) return parts;
  let at = 0;
  return parts.map((part) =>
    eachImage(part, note, (image) => (at++ < gone ? leftOut("newer ones took its place") : image)),
  );
}

/** How many of the oldest give way. */
function firstKept(sizes: readonly number[], rule: ImageRule): number {
  const encodedMax = (rule.totalBytesMax * 4) / 3;
  let [gone, count, bytes] = [0, 0, 0];
  for (const [at, size] of sizes.entries()) {
    count += 1;
    bytes += size;
    if (count <= rule.countMax && bytes <= encodedMax) continue;
    while (gone < at && (count > rule.countMax * STAYS || bytes > encodedMax * STAYS)) {
      count -= 1;
      bytes -= sizes[gone] ?? 0;
      gone += 1;
    }
  }
  return gone;
}
