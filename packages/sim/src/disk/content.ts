/**
 * The bytes of one simulated file: what programs read now, and what a power loss would leave. Pure values.
 * Invariant: bytes become durable only through `synced`, or by the choice of whoever pulls the plug.
 */

/** Bytes from `from` up to `to`, written and not synced. */
interface Range {
  readonly from: number;
  readonly to: number;
}

export interface Content {
  /** What a reader gets. */
  readonly cache: Buffer;
  /** What is on the platter. */
  readonly durable: Buffer;
  readonly dirty: readonly Range[];
}

/**
 * What becomes of un-synced bytes when the power goes: all lost, all kept, the first `torn` of them kept, or the new
 * length kept with NULs in it (the size was written before the data).
 */
export type DataLoss = "lost" | "kept" | "zeros" | { readonly torn: number };

/** What becomes of them when a sync fails: still to be written, forgotten but readable for now, or gone at once. */
export type FailedPages = "kept" | "clean" | "gone";

const NOTHING = Buffer.alloc(0);

export const EMPTY: Content = { cache: NOTHING, durable: NOTHING, dirty: [] };

export function isDirty({ cache, durable, dirty }: Content): boolean {
  return dirty.length > 0 || cache.length !== durable.length;
}

function dirtyBytes(content: Content): number {
  return content.dirty.reduce((sum, { from, to }) => sum + to - from, 0);
}

export function written(content: Content, position: number, bytes: Uint8Array): Content {
  const end = position + bytes.length;
  const cache = Buffer.alloc(Math.max(content.cache.length, end));
  content.cache.copy(cache);
  cache.set(bytes, position);
  return { ...content, cache, dirty: [...content.dirty, { from: position, to: end }] };
}

export function cutTo(content: Content, size: number): Content {
  const dirty = content.dirty.map(({ from, to }) => ({ from, to: Math.min(to, size) }));
  return { ...content, cache: content.cache.subarray(0, size), dirty: dirty.filter(({ from, to }) => from < to) };
}

/** The file on the platter with `size` bytes and these ranges taken over from the cache. */
function platter({ cache, durable }: Content, size: number, ranges: readonly Range[]): Buffer {
  const next = Buffer.alloc(size);
  durable.copy(next);
  for (const { from, to } of ranges) cache.copy(next, from, from, to);
  return next;
}

export function synced(content: Content): Content {
  const { cache, dirty } = content;
  const durable = platter(content, cache.length, dirty);
  // One buffer where they are equal: then nothing has to be compared, or told twice.
  return { cache, durable: durable.equals(cache) ? cache : durable, dirty: [] };
}

/** Everything from `from` on has to be written again. */
export function renewed(content: Content, from: number): Content {
  const to = content.cache.length;
  return from < to ? { ...content, dirty: [...content.dirty, { from, to }] } : content;
}

export function afterFailedSync(content: Content, pages: FailedPages): Content {
  if (pages === "kept") return content;
  if (pages === "clean") return { ...content, dirty: [] };
  return { cache: content.durable, durable: content.durable, dirty: [] };
}

export function afterPowerLoss(content: Content, loss: DataLoss): Content {
  if (content.cache === content.durable && content.dirty.length === 0) return content;
  const left = remains(content, loss);
  return { cache: left, durable: left, dirty: [] };
}

function remains(content: Content, loss: DataLoss): Buffer {
  if (!isDirty(content) || loss === "lost") return content.durable;
  if (loss === "kept") return synced(content).durable;
  if (loss === "zeros") {
    const next = platter(content, content.cache.length, []);
    for (const { from, to } of content.dirty) next.fill(0, from, to);
    return next;
  }
  if (loss.torn >= dirtyBytes(content)) return synced(content).durable;
  const ranges = firstBytes(content.dirty, loss.torn);
  return platter(content, Math.max(content.durable.length, ranges.at(-1)?.to ?? 0), ranges);
}

function firstBytes(ranges: readonly Range[], count: number): Range[] {
  let left = count;
  return ranges.flatMap(({ from, to }) => {
    const end = Math.min(to, from + left);
    left -= end - from;
    return end > from ? [{ from, to: end }] : [];
  });
}
