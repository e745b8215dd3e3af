/** Pictures that came with a message: what the model is shown of them. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { realWorld } from "@holdfast/base";
import sharp from "sharp";
import { expect, onTestFinished, test, vi } from "vitest";
import { blocksOf } from "../src/attachments.ts";
import { factsOf } from "../src/context/hygiene/picture.ts";
import { PNG, pngOf } from "./support/transcripts.ts";
import { temporaryWorkspace } from "./support/workspace.ts";

const world = realWorld(() => {});

async function shown(file: Buffer, type = "image/png", blocks = blocksOf) {
  await using space = await temporaryWorkspace({ world });
  await mkdir(join(space.path, "inbox"), { recursive: true });
  await writeFile(join(space.path, "inbox", "a.png"), file);
  const attachment = { name: "a.png", type, bytes: file.length, path: "inbox/a.png" };
  const [line, picture] = await blocks([attachment], space.path);
  const facts = picture?.type === "image" ? factsOf(picture) : null;
  return { line: line?.type === "text" ? line.text : "", picture, facts };
}

const photo = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: { r: 200, g: 30, b: 30 } } });

test("a small one is shown as it is, byte for byte, and as what it is", async () => {
  const { picture, line } = await shown(Buffer.from(PNG, "base64"), "image/jpeg");
  expect(picture).toEqual({ type: "image", data: PNG, mimeType: "image/png" });
  expect(line).toMatch(/^\[attached: inbox\/a\.png \("a\.png", image\/jpeg, \d+ bytes\)\]$/);
});

test("B051 a photo of a camera is shown smaller, upright, and the model is told", async () => {
  const file = await photo(4_000, 3_000).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  const { facts, line } = await shown(file, "image/jpeg");
  expect(facts).toMatchObject({ mimeType: "image/jpeg", width: 1_500, height: 2_000 });
  expect(line).toContain("; shown smaller than it is)]");
});

test("many bytes become fewer, and what is transparent turns white", async () => {
  const noise = { type: "gaussian", mean: 128, sigma: 60 } as const;
  const file = await sharp({ create: { width: 1_200, height: 1_000, channels: 3, background: "black", noise } })
    .png({ compressionLevel: 0 })
    .toBuffer();
  expect(file.length).toBeGreaterThan(3 * 1024 * 1024);
  const { facts } = await shown(file);
  expect(facts).toMatchObject({ mimeType: "image/jpeg", width: 1_200, height: 1_000 });
  expect(facts?.bytes).toBeLessThan(3 * 1024 * 1024);
  const clear = await sharp({ create: { width: 2_400, height: 10, channels: 4, background: "#00000000" } })
    .png()
    .toBuffer();
  const { picture } = await shown(clear);
  const { dominant } = await sharp(Buffer.from(picture?.type === "image" ? picture.data : "", "base64")).stats();
  expect(Math.min(dominant.r, dominant.g, dominant.b)).toBeGreaterThan(240);
});

test("what only claims to be a picture is named, and one that claims more pixels than there can be is not unpacked", async () => {
  expect((await shown(Buffer.from("hello"))).line).toContain("; not a picture that can be read)]");
  const bomb = await shown(Buffer.from(pngOf(60_000, 60_000, 6 * 1024 * 1024), "base64"));
  expect([bomb.picture, bomb.line.includes("; too large to be shown)]")]).toEqual([undefined, true]);
});

test("where the library does not exist, what fits is shown and what does not is named", async () => {
  const file = await photo(4_000, 3_000).jpeg().toBuffer();
  const large = Buffer.concat([file, Buffer.alloc(5 * 1024 * 1024)]);
  vi.resetModules();
  vi.doMock("sharp", () => {
    throw new Error("no build for this machine");
  });
  onTestFinished(() => void vi.doUnmock("sharp"));
  const without = await import("../src/attachments.ts");
  expect((await shown(file, "image/jpeg", without.blocksOf)).facts).toMatchObject({ width: 4_000, height: 3_000 });
  expect((await shown(large, "image/jpeg", without.blocksOf)).line).toContain("; too large to be shown)]");
});
