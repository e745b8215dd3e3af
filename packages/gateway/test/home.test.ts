/** One gateway per home, whoever the other one is; and homes that cannot be used. */
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hostname } from "node:os";
import { readLockNote, realWorld, tryFileLock } from "@holdfast/base";
import { expect, test } from "vitest";
import { findGateway, openHome } from "../src/home.ts";
import { temporaryHome } from "./support/home.ts";

const world = realWorld();

test("the first opening makes a private directory and an id that stays", async () => {
  const path = join(await temporaryHome(), "a", "home");
  const first = await openHome(path, world);
  expect(statSync(path).mode & 0o777).toBe(0o700);
  expect(statSync(join(path, ".home.json")).mode & 0o777).toBe(0o600);
  first.release();
  const second = await openHome(path, world);
  expect([second.id, second.previous]).toEqual([first.id, null]);
  second.release();
});

test("a second one is refused and told who is there", async () => {
  const path = await temporaryHome();
  const home = await openHome(path, world);
  home.announce("http://127.0.0.1:4653");
  await expect(openHome(path, world)).rejects.toMatchObject({
    code: "home_busy",
    message: expect.stringMatching(new RegExp(`process ${process.pid} on ${hostname()}, at http://127.0.0.1:4653`)),
  });
  home.release();
});

test("a holder in another container with our own pid is still there: the lock decides", async () => {
  const path = await temporaryHome();
  const lock = tryFileLock(join(path, "home.lock"))!;
  lock.note({ pid: process.pid, start: "1", boot: "another", pidns: "pid:[1]", host: "other-container", token: "t" });
  await expect(openHome(path, world)).rejects.toMatchObject({
    code: "home_busy",
    details: { host: "other-container" },
  });
  lock.release();
  const home = await openHome(path, world);
  expect(home.previous).toMatchObject({ host: "other-container", pid: process.pid });
  home.release();
});

test("a note without a lock is a stale one, whatever pid it names, and is taken over", async () => {
  const path = await temporaryHome();
  writeFileSync(join(path, "home.lock"), JSON.stringify({ pid: process.ppid, host: hostname() }));
  const home = await openHome(path, world);
  expect(home.previous).toMatchObject({ pid: process.ppid });
  expect(readLockNote(join(path, "home.lock"))).toMatchObject({ pid: process.pid });
  home.release();
});

test.each([
  ["a file in its place", (path: string) => writeFileSync(path, ""), "it is a file"],
  ["a file above it", (path: string) => writeFileSync(join(path, ".."), ""), "is a file"],
  ["home.lock is a directory", (path: string) => mkdirSync(join(path, "home.lock"), { recursive: true }), "directory"],
])("%s is home_unusable", async (name, spoil, says) => {
  const base = await temporaryHome();
  const path = name === "a file above it" ? join(base, "file", "home") : join(base, "home");
  spoil(path);
  await expect(openHome(path, world)).rejects.toMatchObject({
    code: "home_unusable",
    message: expect.stringContaining(says),
  });
});

test.skipIf(process.getuid?.() === 0)("a home without the right to write is home_unusable, nothing held", async () => {
  const path = await temporaryHome();
  chmodSync(path, 0o500);
  await expect(openHome(path, world)).rejects.toMatchObject({ code: "home_unusable" });
  chmodSync(path, 0o700);
  (await openHome(path, world)).release();
});

test("findGateway: null when none runs, else its address and token", async () => {
  const path = await temporaryHome();
  expect(await findGateway(join(path, "none"))).toBeNull();
  const home = await openHome(path, world);
  home.announce("http://127.0.0.1:1");
  writeFileSync(join(path, "credentials.json"), JSON.stringify({ gatewayToken: "secret" }));
  expect(await findGateway(path)).toEqual({
    address: "http://127.0.0.1:1",
    token: "secret",
    pid: process.pid,
    host: hostname(),
  });
  home.release();
  expect(await findGateway(path)).toBeNull();
  expect(readFileSync(join(path, "home.lock"), "utf8")).not.toContain("secret");
});
