/**
 * Real processes, real kills: what was accepted is answered after the next start, once; and one home has one gateway.
 * The facts come from outside the killed process: what the client was told, the transcript's lines, the file's inode.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { WireSnapshot } from "../src/wire/index.ts";
import { startChild } from "./support/child.ts";
import { temporaryHome } from "./support/home.ts";
import { ask, tokenOf } from "./support/http.ts";

// Several processes in each test: on a busy machine they are slow, not wrong.
vi.setConfig({ testTimeout: 120_000 });

const PATH = "/api/sessions/agent:main:main";

function call(address: string, home: string) {
  const authorization = `Bearer ${tokenOf(home)}`;
  return {
    send: (text: string, key: string, wait: boolean) =>
      ask(`${address}${PATH}/messages`, {
        method: "POST",
        body: { text, wait },
        headers: { authorization, "idempotency-key": key },
      }),
    snapshot: async () =>
      (await ask(`${address}${PATH}/entries`, { headers: { authorization } })).json() as WireSnapshot,
  };
}

/** Lines of the only transcript. */
function lines(home: string): Record<string, unknown>[] {
  const folder = join(home, "agents", "main", "sessions");
  const files = readdirSync(folder).filter((name) => name.endsWith(".jsonl") && !name.startsWith("sessions."));
  expect(files).toHaveLength(1);
  const text = readFileSync(join(folder, files[0]!), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

const POINTS = ["lane:after-write#1", "http:after-ack#1", "effect:after:write#1", "deliver:after-send#1"];
const MORE_POINTS = [
  "http:before-ack#1",
  "transcript:after-sync#3",
  "deliver:before-send#1",
  // A turn with one tool writes to its lanes five times, and claims twice.
  ...Array.from({ length: 4 }, (_, index) => `lane:before-write#${index + 2}`),
  ...Array.from({ length: 6 }, (_, index) => `lane:after-write#${index + 2}`),
  "transcript:before-write#2",
  "model:before-ask#1",
  "model:after-answer#1",
  "effect:before:write#1",
  "model:after-answer#2",
];
const points = process.env.HOLDFAST_LARGE === "1" ? [...POINTS, ...MORE_POINTS] : POINTS;

test.each(points)("killed at %s: the next gateway answers, once", async (point) => {
  const home = await temporaryHome();
  const first = startChild(home, { HOLDFAST_FAULT: `kill@${point}` });
  const told = await call(await first.address, home)
    .send("write it", "k1", false)
    .catch(() => null);
  // A point that this turn does not have kills nobody: said as that, and soon.
  const never = setTimeout(() => first.process.kill("SIGTERM"), 30_000);
  expect(await first.ended, `${point} was not reached`).toBe("SIGKILL");
  clearTimeout(never);
  const second = startChild(home);
  const { send, snapshot } = call(await second.address, home);
  // A client that heard nothing sends again under the same key; one that heard "accepted" need not.
  if (told === null) expect((await send("write it", "k1", false)).status).toBe(202);
  await vi.waitFor(async () => expect((await snapshot()).items).toMatchObject([{ state: "done", clientKey: "k1" }]), {
    timeout: 60_000,
    interval: 50,
  });
  expect((await send("write it", "k1", true)).json()).toMatchObject({ answer: "answer 1" });
  const messages = lines(home).flatMap((line) =>
    line.message ? [line.message as { role: string; content: unknown }] : [],
  );
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "toolResult", "assistant"]);
  expect(readFileSync(join(home, "workspace", "out.txt"), "utf8")).toBe("written\n");
  second.process.kill("SIGTERM");
  expect(await second.ended).toBe(0);
});

const SECONDS = process.env.HOLDFAST_LARGE === "1" ? 20 : 2;
test.each(["SIGKILL", "SIGTERM"] as const)(
  "a command that runs outlives a %s: its real result is delivered once",
  async (signal) => {
    const home = await temporaryHome();
    writeFileSync(join(home, "holdfast.json"), "{ agents: { defaults: { tools: { approve: [] } } } }");
    const first = startChild(home);
    const { send } = call(await first.address, home);
    expect((await send(`wait ${SECONDS}`, "k1", false)).status).toBe(202);
    const ran = join(home, "workspace", "ran.txt");
    await vi.waitFor(() => expect(readFileSync(ran, "utf8")).toBe("ran\n"), { timeout: 30_000, interval: 50 });
    first.process.kill(signal);
    await first.ended;
    const second = startChild(home);
    const again = call(await second.address, home);
    await vi.waitFor(async () => expect((await again.snapshot()).items).toMatchObject([{ state: "done" }]), {
      timeout: 60_000,
      interval: 50,
    });
    expect(readFileSync(ran, "utf8")).toBe("ran\n");
    const results = lines(home).filter(
      (line) => (line.message as { role?: string } | undefined)?.role === "toolResult",
    );
    expect(results).toHaveLength(1);
    expect(results[0]!.message).toMatchObject({
      isError: false,
      content: [{ type: "text", text: expect.stringMatching(/^(.*it happened\.\n)?done$/) }],
    });
  },
);

test("a second gateway on one home is refused, names the first, and changes nothing", async () => {
  const home = await temporaryHome();
  const first = startChild(home);
  const address = await first.address;
  const second = startChild(home);
  expect(await second.ended).toBe(4);
  expect(second.stderr()).toContain(`process ${first.process.pid} on`);
  expect(second.stderr()).toContain(address);
  expect((await call(address, home).send("hello", "k", true)).status).toBe(200);
  first.process.kill("SIGKILL");
  await first.ended;
  const third = startChild(home);
  expect((await call(await third.address, home).send("hello", "k", true)).json()).toMatchObject({ answer: "answer 1" });
  expect(third.stderr()).toContain("taking over");
});

test.each([
  ["unknown keys", (home: string) => writeFileSync(join(home, "holdfast.json"), "{ gatway: {} }"), "`gateway`"],
  ["a directory as configuration", (home: string) => mkdirSync(join(home, "holdfast.json")), "it is a directory"],
  ["a directory as credentials", (home: string) => mkdirSync(join(home, "credentials.json")), "credentials.json"],
])("%s: a clear error, a non-zero exit, nothing made", async (_name, spoil, says) => {
  const home = await temporaryHome();
  spoil(home);
  const child = startChild(home);
  expect(await child.ended).not.toBe(0);
  expect(child.stderr()).toContain(says);
  expect(readdirSync(home)).not.toContain("workspace");
});
