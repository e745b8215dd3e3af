/** The index on real disks: used while it is true, and whatever happens to it or to the file, no answer changes. */
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { realWorld } from "@holdfast/base";
import { openTranscript, requestsPath, type Session } from "@holdfast/sessions";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openSource } from "../../src/reading/source.ts";
import { readWhole } from "../../src/reading/whole.ts";
import { LineIndex } from "../../src/sidecar/line-index.ts";
import { loadSidecar, SIDECAR_FROM_BYTES, sidecarPath } from "../../src/sidecar/sidecar-file.ts";
import { SLOT_BYTES } from "../../src/sidecar/slots.ts";
import { archiveLog, discardLog } from "../../src/stores/file/archive.ts";
import { type Disk, realDisk } from "../../src/stores/file/disk.ts";
import { positionOf } from "../../src/stores/file/position.ts";
import { runChild } from "../support/child.ts";
import { testDirectory } from "../support/directories.ts";
import { user as newUser } from "../support/entries.ts";
import { appendLines, chain, writeLong } from "../support/long-session.ts";
import { fileOf, user } from "../support/make.ts";

const place = { disk: realDisk, world: realWorld() };

/** The slots that are kept for exactly the file as it is now, if they could be used. */
async function keptSlots(path: string): Promise<Uint32Array | undefined> {
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return loadSidecar(place, path, { dev, ino, size: Number(size), mtimeNs, ctimeNs });
}

/** How many they are; null: none. */
async function usable(path: string): Promise<number | null> {
  const slots = await keptSlots(path);
  return slots === undefined ? null : slots.byteLength / SLOT_BYTES;
}

/** What an index made from nothing but the file would hold. */
async function freshSlots(path: string): Promise<Uint32Array> {
  await using source = await openSource(path);
  const index = LineIndex.empty();
  await index.extend(source);
  return index.slots;
}

/** What a full read says: ids in file order, and the parent of each. */
async function fullRead(path: string): Promise<Map<string, string | null>> {
  await using source = await openSource(path);
  const { tree } = await readWhole(source);
  return new Map(tree.nodes.map((ref, node) => [ref.id, tree.nodes[tree.parentOf(node)]?.id ?? null]));
}

/** Asks a session everything that an index might answer, and compares. */
async function expectSame(session: Session, path: string): Promise<void> {
  const links = await fullRead(path);
  const all = [...links.keys()];
  const parents = new Set(links.values());
  const leaves = await session.tree.leaves({ limit: 1000 });
  expect(leaves.map(({ entry }) => entry.id).sort()).toEqual(all.filter((id) => !parents.has(id)).sort());
  expect((await session.tree.page({ limit: all.length + 1 })).map(({ id }) => id)).toEqual(all);
  const picked = [0, 7, Math.floor(all.length / 2), all.length - 1].map((at) => all[at] ?? "");
  for (const id of picked) {
    expect((await session.entry(id))?.id).toBe(id);
    expect((await session.tree.ancestors(id, { limit: 1 })).map((entry) => entry.id)).toEqual(
      links.get(id) === null ? [] : [links.get(id)],
    );
    expect((await session.since(id)).map((entry) => entry.id)).toEqual(all.slice(all.indexOf(id) + 1));
  }
  for (const id of ["e99999", "nobody"]) if (!links.has(id)) expect(await session.entry(id)).toBeUndefined();
}

async function expectSameAnew(path: string): Promise<void> {
  await using session = await openTranscript(path);
  await expectSame(session, path);
}

async function expectLookedUp(path: string): Promise<void> {
  await using session = await openTranscript(path);
  expect(await session.entry("nobody")).toBeUndefined();
  expect((await session.tree.ancestors("e69999", { limit: 1 })).map(({ id }) => id)).toEqual(["e69998"]);
}

describe("made and used", () => {
  test("it is made when first needed, private, and carried on by each commit", async () => {
    await using directory = await testDirectory();
    const path = join(directory.path, "s.jsonl");
    await writeLong(path);
    await using session = await openTranscript(path);
    await session.context();
    expect(await usable(path)).toBeNull();
    expect(await session.entry("nobody")).toBeUndefined();
    expect(await usable(path)).toBe(600);
    expect((await stat(sidecarPath(path))).mode & 0o777).toBe(0o600);
    await session.append([newUser("one"), newUser("two")]);
    expect(await usable(path)).toBe(602);
    await session.branch("e5");
    await session.append(newUser("three"));
    expect(await usable(path)).toBe(604);
    expect(await keptSlots(path)).toEqual(await freshSlots(path));
    await expectSame(session, path);
    await expectSameAnew(path);
  });

  test("one of many pieces is read whole, and spares the next session reading the transcript", async () => {
    await using directory = await testDirectory();
    const path = join(directory.path, "s.jsonl");
    await writeFile(path, fileOf(chain(0, 70_000, 1)));
    await expectLookedUp(path);
    expect(await usable(path)).toBe(70_000);
    const made = await stat(sidecarPath(path), { bigint: true });
    await expectLookedUp(path);
    // Whoever could not use it would have made it anew.
    expect((await stat(sidecarPath(path), { bigint: true })).ino).toBe(made.ino);
  });

  test("a small transcript has none", async () => {
    await using directory = await testDirectory();
    const path = join(directory.path, "s.jsonl");
    await writeFile(path, fileOf(chain(0, 20)));
    await using session = await openTranscript(path);
    await session.append(newUser("one"));
    await expectSame(session, path);
    expect((await stat(path)).size).toBeLessThan(SIDECAR_FROM_BYTES);
    expect((await readdir(directory.path)).sort()).toEqual(["s.jsonl", "s.jsonl.lock"]);
  });

  test("it goes when the transcript is put away", async () => {
    await using directory = await testDirectory();
    const path = join(directory.path, "s.jsonl");
    await writeLong(path);
    await expectSameAnew(path);
    const file = await realDisk.open(path, "read");
    const position = await positionOf(file);
    await file.close();
    expect(await archiveLog({ live: path, archived: `${path}.old` }, position, place)).toBe("archived");
    expect((await readdir(directory.path)).sort()).toEqual(["s.jsonl.lock", "s.jsonl.old"]);
  });

  test("what is kept of requests goes with it, also what a kill between the two left, and the directory is synced", async () => {
    await using directory = await testDirectory();
    const [live, archived] = [join(directory.path, "s.jsonl"), join(directory.path, "s.jsonl.old")];
    const synced: string[] = [];
    const disk: Disk = {
      ...realDisk,
      async syncDirectory(path) {
        await realDisk.syncDirectory(path);
        synced.push((await readdir(path)).filter((name) => name.includes(".requests")).join());
      },
    };
    const leave = () => writeFile(requestsPath(live), "what was said");
    await writeFile(live, fileOf(chain(0, 2)));
    await leave();
    const file = await realDisk.open(live, "read");
    const position = await positionOf(file);
    await file.close();
    expect(await archiveLog({ live, archived }, position, { ...place, disk })).toBe("archived");
    expect([await readdir(directory.path), synced.at(-1)]).toEqual([["s.jsonl.old"], ""]);
    await leave();
    expect(await archiveLog({ live, archived }, position, { ...place, disk })).toBe("archived");
    expect([await readdir(directory.path), synced.at(-1)]).toEqual([["s.jsonl.old"], ""]);
    await leave();
    expect(await discardLog({ live, archived }, { ...place, disk })).toBe(true);
    expect([await readdir(directory.path), synced.at(-1)]).toEqual([[], ""]);
  });

  test("a file of that name that is no index stays as it is", async () => {
    await using directory = await testDirectory();
    const path = join(directory.path, "s.jsonl");
    await writeLong(path);
    await writeFile(sidecarPath(path), "my own notes");
    await expectSameAnew(path);
    expect(await readFile(sidecarPath(path), "utf8")).toBe("my own notes");
  });

  test("where it cannot be written the answers are the same", async () => {
    await using directory = await testDirectory();
    const path = join(directory.path, "s.jsonl");
    await writeLong(path);
    await mkdir(sidecarPath(path));
    await using session = await openTranscript(path);
    await session.append(newUser("one"));
    await expectSame(session, path);
  });
});

describe("whatever became of it", () => {
  test("bytes changed, cut off, added: never another answer", async () => {
    await using directory = await testDirectory();
    const path = join(directory.path, "s.jsonl");
    await writeLong(path, 450);
    await expectSameAnew(path);
    const sound = await readFile(sidecarPath(path));
    const change = fc.record({
      how: fc.constantFrom("set", "cut", "add", "swap"),
      at: fc.nat({ max: sound.length - 1 }),
      byte: fc.nat({ max: 255 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
        let bytes = Buffer.from(sound);
        for (const { how, at, byte } of changes) {
          if (how === "set" && at < bytes.length) bytes[at] = byte;
          if (how === "cut") bytes = bytes.subarray(0, at);
          if (how === "add") bytes = Buffer.concat([bytes, sound.subarray(0, at)]);
          if (how === "swap") {
            const one = 1 + (at % 300);
            const slot = Buffer.from(bytes.subarray(one * SLOT_BYTES, (one + 1) * SLOT_BYTES));
            bytes.copyWithin(one * SLOT_BYTES, (one + 1) * SLOT_BYTES, (one + 2) * SLOT_BYTES);
            slot.copy(bytes, (one + 1) * SLOT_BYTES);
          }
        }
        await writeFile(sidecarPath(path), bytes);
        await expectSameAnew(path);
      }),
      { seed: 10, numRuns: 30 },
    );
  });

  test("of another transcript, and of this one as it was", async () => {
    await using directory = await testDirectory();
    const [path, other] = [join(directory.path, "s.jsonl"), join(directory.path, "t.jsonl")];
    await writeLong(path);
    await writeFile(
      other,
      fileOf(
        [...chain(0, 500), ...chain(500, 900, 200)]
          .toReversed()
          .map((entry, n) => ({ ...entry, id: `o${n}`, parentId: null })),
      ),
    );
    await expectSameAnew(path);
    await expectSameAnew(other);
    await copyFile(sidecarPath(path), join(directory.path, "old"));
    await copyFile(sidecarPath(other), sidecarPath(path));
    expect(await usable(path)).toBeNull();
    await expectSameAnew(path);
    await appendLines(path, chain(600, 603));
    await copyFile(join(directory.path, "old"), sidecarPath(path));
    expect(await usable(path)).toBeNull();
    await expectSameAnew(path);
    expect(await usable(path)).toBe(603);
  });
});

describe("whatever became of the transcript while it was closed", () => {
  const shorter = (path: string) => stat(path).then(({ size }) => truncate(path, size - 3000));
  const cases: Record<string, (path: string) => Promise<void>> = {
    replaced: async (path) => {
      await writeFile(
        `${path}.2`,
        fileOf(chain(0, 600).map((entry) => (entry.id === "e3" ? { ...entry, id: "i3" } : entry))),
      );
      await rename(`${path}.2`, path);
    },
    "restored with its times": async (path) => {
      const { atime, mtime } = await stat(path);
      await writeFile(`${path}.2`, fileOf([user("z", null, "z"), ...chain(0, 600)]));
      await utimes(`${path}.2`, atime, mtime);
      await rename(`${path}.2`, path);
    },
    shrunk: shorter,
    "shrunk and grown again": async (path) => {
      await shorter(path);
      await appendLines(path, [user("new", null, "y".repeat(2900))]);
    },
    "edited without a change in size": async (path) => {
      const text = await readFile(path, "utf8");
      await writeFile(path, text.replace('"id":"e7"', '"id":"i7"'));
    },
    "edited and its time set back": async (path) => {
      const { atime, mtime } = await stat(path);
      const text = await readFile(path, "utf8");
      await writeFile(path, text.replace('"parentId":"e20"', '"parentId":"e10"'));
      await utimes(path, atime, mtime);
    },
    "left with a torn line": async (path) =>
      appendLines(path, []).then(() => writeFile(path, '{"type":"message","id":"t', { flag: "a" })),
    "put back from an archive with its index": async (path) => {
      await copyFile(path, `${path}.2`);
      await rm(path);
      await copyFile(`${path}.2`, path);
    },
  };
  test.each(Object.entries(cases))("%s", async (_name, change) => {
    await using directory = await testDirectory();
    const path = join(directory.path, "s.jsonl");
    await writeLong(path);
    await expectSameAnew(path);
    expect(await usable(path)).toBe(600);
    await change(path);
    expect(await usable(path)).toBeNull();
    await expectSameAnew(path);
    await using session = await openTranscript(path);
    await session.append(newUser("on"));
    await expectSame(session, path);
  });

  test("another program appends while it is open", async () => {
    await using directory = await testDirectory();
    const path = join(directory.path, "s.jsonl");
    await writeLong(path);
    await using session = await openTranscript(path);
    await expectSame(session, path);
    await appendLines(path, [...chain(600, 602), user("side", "e5", "s")]);
    await expectSame(session, path);
    await session.append(newUser("on"));
    await expectSame(session, path);
    await expectSameAnew(path);
  });
});

describe("several processes", () => {
  test("two extend it at once, and it describes the file of both", async () => {
    await using directory = await testDirectory();
    const path = join(directory.path, "s.jsonl");
    await writeLong(path);
    await expectSameAnew(path);
    const ended = await Promise.all(["a", "b"].map((prefix) => runChild("./long-appender.ts", [path, prefix, "25"])));
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual([
      [0, ""],
      [0, ""],
    ]);
    expect(await usable(path)).toBe(650);
    await expectSameAnew(path);
  });

  test("killed at each point around it: every acknowledged entry is found, the index is right or not used", async () => {
    let killed = 0;
    for (const point of ["sidecar:before-write", "sidecar:after-write"]) {
      for (const nth of [1, 2]) {
        await using directory = await testDirectory();
        const path = join(directory.path, "s.jsonl");
        await writeLong(path);
        const env = { HOLDFAST_FAULT: `kill@${point}#${nth}` };
        const ended = await runChild("./long-appender.ts", [path, "k", "4"], { env });
        if (ended.signal === "SIGKILL") killed += 1;
        await using session = await openTranscript(path);
        for (const line of ended.lines) expect(await session.entry(line.slice(4)), line).toBeDefined();
        await expectSame(session, path);
        expect(await usable(path)).toBe((await fullRead(path)).size);
      }
    }
    expect(killed).toBe(4);
  });
});
