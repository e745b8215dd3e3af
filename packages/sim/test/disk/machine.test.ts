/** One machine, several processes: death, sleep, locks and time. */
import { expect, test } from "vitest";
import { Machine } from "../../src/disk/machine.ts";
import type { SimProcess } from "../../src/disk/process.ts";

async function write(process: SimProcess, path: string, text: string): Promise<void> {
  await using file = await process.disk.open(path, "grow");
  const bytes = Buffer.from(text);
  await file.write(bytes, 0, bytes.length);
}

const textOf = (machine: Machine, path: string): string =>
  machine.image.inode(machine.image.at(path)).content.cache.toString();

test("a killed process gets no answer and does nothing more; its locks are free", async () => {
  const machine = new Machine({ seed: 1 });
  const dying = machine.process("A", { at: 3, fault: { kind: "torn", bytes: 2 } });
  expect(dying.disk.locks.tryLock("/lock")).toBeDefined();
  let ended = false;
  void write(dying, "/file", "whole").then(() => {
    ended = true;
  });
  await machine.run();
  expect([ended, dying.isDead, textOf(machine, "/file")]).toEqual([false, true, "wh"]);
  expect(() => dying.disk.locks.tryLock("/lock")).toThrow();
  expect(machine.process("B").disk.locks.tryLock("/lock")).toBeDefined();
});

test("a frozen process keeps its lock and goes on where it was", async () => {
  const machine = new Machine({ seed: 1 });
  const slow = machine.process("A", { at: 3, fault: { kind: "freeze" } });
  slow.disk.locks.tryLock("/lock");
  const done = write(slow, "/file", "late");
  await machine.run();
  expect(machine.process("B").disk.locks.tryLock("/lock")).toBeUndefined();
  expect(textOf(machine, "/file")).toBe("");
  slow.wake();
  await machine.run();
  await done;
  expect(textOf(machine, "/file")).toBe("late");
});

test("time passes only when nobody can do anything, in the order of the timers", async () => {
  const machine = new Machine({ seed: 1 });
  const { world } = machine.process("A");
  const startMs = world.nowMs();
  const seen: (readonly [string, number])[] = [];
  const after = (name: string, ms: number) => world.sleep(ms).then(() => seen.push([name, world.nowMs() - startMs]));
  void after("later", 60_000);
  void after("sooner", 5);
  using _ticks = world.every(30_000, () => seen.push(["tick", world.nowMs() - startMs]));
  await machine.run();
  expect(seen).toEqual([
    ["sooner", 5],
    ["tick", 30_000],
    ["later", 60_000],
  ]);
});

test("the seed decides whose turn it is, and nothing else does", async () => {
  const orderOf = async (seed: number): Promise<string> => {
    const machine = new Machine({ seed, shuffle: true });
    machine.image.create("/file");
    await Promise.all([...["A", "B", "C"].map((name) => write(machine.process(name), "/file", name)), machine.run()]);
    return textOf(machine, "/file");
  };
  const orders = await Promise.all(Array.from({ length: 20 }, (_, seed) => orderOf(seed)));
  expect(await Promise.all(orders.map((_, seed) => orderOf(seed)))).toEqual(orders);
  expect(new Set(orders).size).toBeGreaterThan(3);
});

test("a short write says how short; a refused operation does nothing", async () => {
  const machine = new Machine({ seed: 1 });
  const short = await answered(machine, machine.process("A", { at: 2, fault: { kind: "short", bytes: 1 } }));
  expect(short).toEqual({ bytesWritten: 1 });
  const full = await answered(machine, machine.process("B", { at: 2, fault: { kind: "fail", code: "ENOSPC" } }));
  expect(full).toMatchObject({ code: "ENOSPC" });
  expect(textOf(machine, "/file")).toBe("w");
});

async function answered(machine: Machine, process: SimProcess): Promise<unknown> {
  const asked = process.disk
    .open("/file", "grow")
    .then((file) => file.write(Buffer.from("word"), 0, 4))
    .catch((error: unknown) => error);
  await machine.run();
  return asked;
}
