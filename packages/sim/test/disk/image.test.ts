/** Names and links: what is there, what a power loss takes, and that a copy goes its own way. */
import { describe, expect, test } from "vitest";
import { synced, written } from "../../src/disk/content.ts";
import { DiskImage, fingerprint } from "../../src/disk/image.ts";

function diskWith(...paths: readonly string[]): DiskImage {
  const image = new DiskImage();
  image.makeDirectory("/d");
  for (const path of paths) image.create(path);
  image.names.sync(image.at("/"));
  return image;
}

const names = (image: DiskImage): readonly string[] => image.names.list(image.at("/d")).map(([name]) => name);
const refuse = (code: string) => expect.objectContaining({ code });

describe("names", () => {
  test("an un-synced name is lost or kept; a synced one stays", () => {
    const image = diskWith("/d/a");
    image.names.sync(image.at("/d"));
    image.create("/d/b");
    const [lost, kept] = [image.clone(), image.clone()];
    lost.losePower({ data: "kept", names: "lost" });
    kept.losePower({ data: "kept", names: "kept" });
    expect([names(lost), names(kept)]).toEqual([["a"], ["a", "b"]]);
  });

  test("a rename is lost as a whole: the file has its old name, or its new one", () => {
    const image = diskWith("/d/a");
    image.names.sync(image.at("/d"));
    image.rename("/d/a", "/d/b");
    expect(names(image)).toEqual(["b"]);
    image.losePower({ data: "kept", names: "lost" });
    expect(names(image)).toEqual(["a"]);
  });

  test("between two directories the half whose directory was synced is durable, and only that", () => {
    const image = diskWith("/d/a");
    image.makeDirectory("/e");
    for (const path of ["/", "/d"]) image.names.sync(image.at(path));
    image.rename("/d/a", "/e/a");
    image.names.sync(image.at("/e"));
    image.losePower({ data: "kept", names: "lost" });
    expect([image.find("/d/a"), image.find("/e/a")]).toEqual([image.at("/e/a"), image.at("/d/a")]);
  });

  test("some of several changes may be kept without those before", () => {
    const image = diskWith();
    image.create("/d/a");
    image.create("/d/b");
    image.losePower({ data: "kept", names: [false, true] });
    expect(names(image)).toEqual(["b"]);
  });

  test("it refuses as the system does", () => {
    const image = diskWith("/d/a");
    expect(() => image.create("/d/a")).toThrow(refuse("EEXIST"));
    expect(() => image.link("/d/x", "/d/y")).toThrow(refuse("ENOENT"));
    expect(() => image.link("/d/a", "/d/a")).toThrow(refuse("EEXIST"));
    expect(() => image.at("/d/a/b")).toThrow(refuse("ENOTDIR"));
    expect(() => image.makeDirectory("/x/y")).toThrow(refuse("ENOENT"));
  });
});

test("a copy goes its own way, and equal disks have equal fingerprints", () => {
  const image = diskWith("/d/a");
  const copy = image.clone();
  expect(fingerprint(copy)).toBe(fingerprint(image));
  copy.write(copy.at("/d/a"), (content) => written(content, 0, Buffer.from("x")));
  const dirty = fingerprint(copy);
  expect(dirty).not.toBe(fingerprint(image));
  copy.settle(copy.at("/d/a"), synced);
  expect(fingerprint(copy)).not.toBe(dirty);
  expect(image.inode(image.at("/d/a")).content.cache.length).toBe(0);
});
