/** What a picture is, from its first bytes: type and size in pixels. PNG, JPEG, GIF and WebP; nothing else is read. */
import type { ImageBlock } from "@holdfast/sessions";

export interface PictureFacts {
  readonly mimeType: string;
  /** Decoded. */
  readonly bytes: number;
  readonly width: number;
  readonly height: number;
  /** Base64 and nothing else. */
  readonly data: string;
}

const known = new WeakMap<ImageBlock, PictureFacts | null>();

/** Null for what is none of them, or no base64. */
export function factsOf(image: ImageBlock): PictureFacts | null {
  const before = known.get(image);
  if (before !== undefined) return before;
  const facts = read(image);
  known.set(image, facts);
  return facts;
}

function read({ data: given }: ImageBlock): PictureFacts | null {
  if (typeof given !== "string") return null;
  const data = given.replace(/^data:[^,]*,/, "").replace(/\s+/g, "");
  if (data === "" || data.length % 4 === 1 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) return null;
  const buffer = Buffer.from(data, "base64");
  const seen = png(buffer) ?? gif(buffer) ?? webp(buffer) ?? jpeg(buffer);
  return seen === null ? null : { ...seen, bytes: buffer.length, data };
}

type Seen = Pick<PictureFacts, "mimeType" | "width" | "height"> | null;

function png(bytes: Buffer): Seen {
  if (bytes.length < 24 || bytes.readUInt32BE(0) !== 0x89504e47) return null;
  return { mimeType: "image/png", width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function gif(bytes: Buffer): Seen {
  if (bytes.length < 10 || !/^GIF8[79]a$/.test(bytes.toString("latin1", 0, 6))) return null;
  return { mimeType: "image/gif", width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

function webp(bytes: Buffer): Seen {
  if (bytes.length < 30 || bytes.toString("latin1", 0, 4) !== "RIFF" || bytes.toString("latin1", 8, 12) !== "WEBP")
    return null;
  const mimeType = "image/webp";
  const kind = bytes.toString("latin1", 12, 16);
  if (kind === "VP8X") return { mimeType, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
  if (kind === "VP8 ") {
    return { mimeType, width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
  }
  if (kind !== "VP8L") return null;
  const packed = bytes.readUInt32LE(21);
  return { mimeType, width: (packed & 0x3fff) + 1, height: ((packed >> 14) & 0x3fff) + 1 };
}

/** The size stands in the first frame header, after segments of any length. */
function jpeg(bytes: Buffer): Seen {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) return null;
  for (let at = 2; at + 9 <= bytes.length; ) {
    const marker = bytes.readUInt16BE(at);
    if (marker < 0xff00) return null;
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isFrame) {
      return { mimeType: "image/jpeg", width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    }
    if (marker === 0xffff) at += 1;
    else at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}
