/**
 * A picture made small enough for every provider. The library is loaded at the first one that needs it, works off the main
 * thread, and is left out where it does not exist for the machine.
 *
 * Invariant: what comes out is a still picture within the limits, upright; else nothing does.
 */
import { LIMITS } from "@holdfast/base";

export interface Shrunk {
  readonly data: Buffer;
  readonly mimeType: string;
}

/** More than a camera takes; whoever claims more wants to fill our memory. */
const PIXELS_MAX = 120_000_000;
const SECONDS_MAX = 15;
const QUALITIES = [85, 60] as const;

/** Null: it cannot be read, or there is no library. */
export async function shrink(picture: Buffer): Promise<Shrunk | null> {
  const library = await load();
  if (library === null) return null;
  try {
    for (const quality of QUALITIES) {
      const image = library(picture, { limitInputPixels: PIXELS_MAX }).timeout({ seconds: SECONDS_MAX }).autoOrient();
      const edge = LIMITS.imageEdgeMax;
      const small = image.resize({ width: edge, height: edge, fit: "inside", withoutEnlargement: true });
      // Transparent parts would turn black.
      const data = await small.flatten({ background: "white" }).jpeg({ quality }).toBuffer();
      if (data.length <= LIMITS.imageSentBytesMax) return { data, mimeType: "image/jpeg" };
    }
    return null;
  } catch {
    return null;
  }
}

async function load() {
  try {
    return (await import("sharp")).default;
  } catch {
    return null;
  }
}
