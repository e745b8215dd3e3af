/** Liveness: `dead` only where it is proven, on real processes: gone, zombie, reused pid, other boot, other container. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { bootId, type Identity, identityOf, livenessOf, parseIdentity } from "@holdfast/base";
import { describe, expect, test } from "vitest";
import { startChild } from "./support/child.ts";
import { tempDirectory } from "./support/temp.ts";

const me = identityOf("token");
/** The identity a process of this machine would have written, read from outside. */
function identityOfPid(pid: number): Identity {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return { ...me, pid, start: stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]! };
}

test("this process is alive, and its record survives JSON", () => {
  expect(livenessOf(me)).toBe("alive");
  expect(parseIdentity(JSON.parse(JSON.stringify(me)))).toEqual(me);
  expect(me).toMatchObject({ pid: process.pid, token: "token" });
});

test.each([
  null,
  [],
  "x",
  {},
  { pid: "1" },
  { pid: 0 },
  { pid: -1 },
  { pid: 1.5 },
  { pid: 2 ** 31 },
  { pid: Number.NaN },
])("not an identity: %j", (value) => {
  expect(parseIdentity(value)).toBeUndefined();
});

test("what is missing in a record is empty, not invented", () => {
  expect(parseIdentity({ pid: 7, host: 5 })).toEqual({ pid: 7, start: "", boot: "", pidns: "", host: "", token: "" });
});

describe.runIf(process.platform === "linux")("on Linux", () => {
  test("a killed process is dead, and was alive before", async () => {
    await using temp = await tempDirectory();
    await using child = startChild("lock", [temp.at("lock")]);
    await child.line();
    const holder = identityOfPid(child.process.pid!);
    expect(livenessOf(holder)).toBe("alive");
    child.process.kill("SIGKILL");
    await child.ended();
    expect(livenessOf(holder)).toBe("dead");
  });

  test("a zombie is dead: its pid answers, it does not work any more", async () => {
    // The shell becomes a sleep, which does not reap its child.
    const parent = spawn("bash", ["-c", "sleep 0.05 & echo $!; exec sleep 60"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    try {
      const [line]: string[] = await once(createInterface({ input: parent.stdout }), "line");
      const pid = Number(line);
      await expect.poll(() => readFileSync(`/proc/${pid}/stat`, "utf8"), { interval: 5 }).toMatch(/\) Z /);
      expect(process.kill(pid, 0)).toBe(true);
      expect(livenessOf(identityOfPid(pid))).toBe("dead");
    } finally {
      parent.kill("SIGKILL");
    }
  });

  test("a reused pid is another process: the holder is dead", () => {
    expect(livenessOf({ ...me, start: String(Number(me.start) - 1) })).toBe("dead");
  });

  test("a process of another user that may not be signalled is alive", () => {
    expect(livenessOf(identityOfPid(1))).toBe("alive");
  });

  test("another container's pid proves nothing, not even when nobody has it here", () => {
    expect(livenessOf({ ...me, pidns: "pid:[1]" })).toBe("unknown");
    expect(livenessOf({ ...me, pidns: "pid:[1]", pid: 2 ** 31 - 1 })).toBe("unknown");
  });

  test("another boot proves nothing, not even under the same host name", () => {
    const boot = "00000000-0000-4000-8000-000000000000";
    expect(livenessOf({ ...me, boot })).toBe("unknown");
    expect(livenessOf({ ...me, boot, host: "elsewhere" })).toBe("unknown");
    expect(livenessOf({ ...me, boot: "" })).toBe("unknown");
  });

  test("a command name with brackets and spaces does not confuse the start time", async () => {
    const odd = spawn("bash", ["-c", "exec -a 'x) Z 1 (' sleep 60"], { stdio: "ignore" });
    await once(odd, "spawn");
    try {
      expect(livenessOf(identityOfPid(odd.pid!))).toBe("alive");
    } finally {
      odd.kill("SIGKILL");
    }
  });

  test("the boot id is the kernel's", () => {
    expect(bootId()).toBe(readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim());
  });
});
