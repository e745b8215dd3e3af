/** A disk without room, for real: a file system of one megabyte. Needs the right to mount, so it is skipped elsewhere. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { say, scriptedModel } from "@holdfast/agent";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryHome } from "./support/home.ts";
import { startGateway } from "./support/gateway.ts";

const KEY = "agent:main:main";

function mounted(path: string, options: string): boolean {
  mkdirSync(path, { recursive: true });
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

async function smallDisk(skip: () => void, options = "size=1m"): Promise<string> {
  const path = join(await temporaryHome(), "disk");
  if (!mounted(path, options)) skip();
  onTestFinished(() => void execFileSync("umount", ["-l", path]));
  return path;
}

function fill(disk: string): void {
  try {
    writeFileSync(join(disk, "fill"), Buffer.alloc(2 * 1024 * 1024));
  } catch {
    // It is full now, which was the point.
  }
}
const empty = (disk: string): void => rmSync(join(disk, "fill"));

test("a message that cannot be stored is refused with what to do; with room it is accepted under the same key", async (context) => {
  const disk = await smallDisk(() => context.skip());
  const { gateway } = await startGateway({ home: join(disk, "home"), model: scriptedModel(() => say("hi")) });
  await gateway.send(KEY, "before", { clientKey: "k1" });
  fill(disk);
  await expect(gateway.send(KEY, "now", { clientKey: "k2" })).rejects.toMatchObject({ code: "lane_write_failed" });
  empty(disk);
  expect(await gateway.send(KEY, "now", { clientKey: "k2" })).toMatchObject({ kind: "answered" });
  await gateway.stop();
});

test("a disk that fills after a message was accepted delays its answer and loses nothing", async (context) => {
  const disk = await smallDisk(() => context.skip());
  const full = Promise.withResolvers<void>();
  const model = scriptedModel([
    () => {
      fill(disk);
      full.resolve();
      return say("could not be written");
    },
    say("written at last"),
  ]);
  const { gateway } = await startGateway({ home: join(disk, "home"), model, config: '{ lanes: { lease: "1s" } }' });
  const answered = gateway.send(KEY, "hello", { clientKey: "k" });
  await full.promise;
  await vi.waitFor(() => expect(readdirSync(disk)).toContain("fill"));
  empty(disk);
  expect(await answered).toMatchObject({ kind: "answered" });
  await gateway.stop();
});

test("a home on a read-only disk is a clear error", async (context) => {
  const disk = await smallDisk(() => context.skip(), "ro");
  await expect(startGateway({ home: join(disk, "home") })).rejects.toMatchObject({
    code: "home_unusable",
    message: expect.stringContaining("read-only"),
  });
});
