/**
 * What one turn costs the disk, counted by the kernel: every call that waits for it, from the message's arrival to its
 * answer's delivery. Needs strace, since nothing inside the process could be trusted to count itself.
 */
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import { temporaryHome } from "./support/home.ts";
import { ask, tokenOf } from "./support/http.ts";

const SERVE = fileURLToPath(new URL("./support/serve.ts", import.meta.url));
const hasStrace = spawnSync("strace", ["-V"]).status === 0;
if (!hasStrace) process.stderr.write("syncs.test.ts: strace is not installed, so syncs are not counted here\n");

/** Opening, closing and the tool's own two (the file, and its folder) are part of it. */
const SYNCS_MAX = 20;

test.skipIf(!hasStrace)(
  `a turn with one tool, everything durable, syncs at most ${SYNCS_MAX} times`,
  { timeout: 60_000 },
  async () => {
    const home = await temporaryHome();
    const trace = join(home, "trace");
    const command = [
      "-f",
      "-qq",
      "-e",
      "trace=fsync,fdatasync,sync,syncfs,sync_file_range,msync",
      "-e",
      "signal=none",
      "-y",
      "-o",
      trace,
    ];
    const child = spawn(
      "strace",
      [...command, process.execPath, "--conditions=holdfast-src", "--no-warnings", SERVE, home],
      {
        env: { PATH: process.env.PATH, HOME: process.env.HOME },
        stdio: ["ignore", "pipe", "inherit"],
        detached: true,
      },
    );
    onTestFinished(() => void process.kill(-child.pid!, "SIGKILL"));
    let out = "";
    child.stdout.on("data", (piece) => {
      out += String(piece);
    });
    await vi.waitFor(() => expect(out).toContain("http://"), { timeout: 30_000 });
    const send = async () => {
      const headers = { authorization: `Bearer ${tokenOf(home)}` };
      const body = { text: "write it", wait: true };
      expect(
        (await ask(`${out.trim()}/api/sessions/agent:main:main/messages`, { method: "POST", headers, body })).status,
      ).toBe(200);
    };
    const synced = () =>
      readFileSync(trace, "utf8")
        .split("\n")
        .filter((line) => /\w+\(/.test(line) && !line.includes("resumed"));
    /** Until the answer's own item is settled, too: the lanes are written last. */
    const settled = async (atLeast: number) => {
      await vi.waitFor(() => expect(synced().length).toBeGreaterThanOrEqual(atLeast), { timeout: 10_000 });
      await vi.waitFor(async () => {
        const headers = { authorization: `Bearer ${tokenOf(home)}` };
        const { items } = (await ask(`${out.trim()}/api/lanes`, { headers })).json() as { items: unknown[] };
        expect(items).toEqual([]);
      });
      return synced().length;
    };
    await send();
    const before = await settled(1);
    await send();
    const lines = synced().slice(before, await settled(before + 10));
    const of = (pattern: RegExp) => lines.filter((line) => pattern.test(line)).length;
    // Facts that must be there, or the count means nothing: the message, its answer and its result, the effect, the queue.
    expect(of(/\.jsonl>/)).toBeGreaterThanOrEqual(5);
    expect(of(/lanes\.sqlite-wal>/)).toBeGreaterThanOrEqual(4);
    expect(of(/workspace/)).toBe(2);
    expect(lines.length, lines.join("\n")).toBeLessThanOrEqual(SYNCS_MAX);
  },
);
