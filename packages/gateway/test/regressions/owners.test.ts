/** Locks, owners and sizes as a gateway meets them; ids as in the collection of cases. */
import { appendFileSync, readdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { act, say, scriptedModel } from "@holdfast/agent";
import { tryFileLock } from "@holdfast/base";
import { expect, test, vi } from "vitest";
import { ask, tokenOf } from "../support/http.ts";
import { startGateway } from "../support/gateway.ts";
import { temporaryHome } from "../support/home.ts";

/** A busy machine may take its time. */
const waitFor = <T>(check: () => T | Promise<T>) => vi.waitFor(check, { timeout: 15_000 });
const KEY = "agent:main:main";
const PNG = Buffer.alloc(5_000_000, 7).toString("base64");

function transcriptOf(home: string): string {
  const directory = join(home, "agents", "main", "sessions");
  return join(directory, readdirSync(directory).find((name) => /^[0-9a-f-]{36}\.jsonl$/.test(name))!);
}

test("B059 a held lock is not a model's failure: no model is asked for it, the message waits and is answered", async () => {
  const model = scriptedModel((request) => say(`answer ${request.messages.length}`));
  const { gateway, home } = await startGateway({
    model,
    config: "{ sessions: { writeLock: { timeoutMs: 200 } } }",
  });
  await gateway.send(KEY, "first");
  const lock = `${transcriptOf(home)}.lock`;
  // The first turn gives its right back after its answer.
  await waitFor(() => expect(readFileSync(lock, "utf8")).toContain('"untilMs":0'));
  const held = tryFileLock(lock);
  expect(held).toBeDefined();
  const asked = model.requests.length;
  const answer = gateway.send(KEY, "second");
  const tried: string[] = [];
  await waitFor(async () => {
    tried.push((await gateway.open(KEY))[0]?.state ?? "none");
    expect(tried.lastIndexOf("queued")).toBeGreaterThan(tried.indexOf("running"));
  });
  expect(model.requests.length).toBe(asked);
  expect((await gateway.open(KEY)).map(({ state }) => state)).not.toContain("failed");
  held?.release();
  expect(await answer).toMatchObject({ kind: "answered" });
  expect(model.requests.length).toBe(asked + 1);
});

test("B061 a second gateway on the same home, by another path and configuration, does not start, and names the first", async () => {
  const { home } = await startGateway({ model: scriptedModel([]) });
  const other = join(await temporaryHome(), "link");
  symlinkSync(home, other);
  await expect(startGateway({ home: other, config: "{ gateway: { port: 0 } }" })).rejects.toMatchObject({
    code: "home_busy",
    message: expect.stringContaining(String(process.pid)),
  });
});

test("B137 large turns leave the transcript and the queue behind, and no trace beside them", async () => {
  const text = "x".repeat(200_000);
  const { gateway, home } = await startGateway({ model: scriptedModel((_request) => say("short")) });
  await gateway.send(KEY, "first");
  const files = () =>
    (readdirSync(home, { recursive: true }) as string[]).filter((name) => statSync(join(home, name)).isFile());
  const before = files().toSorted();
  for (let turn = 0; turn < 5; turn++) await gateway.send(KEY, text);
  const grown = files().filter((name) => statSync(join(home, name)).size > 500_000);
  expect(
    files()
      .filter((name) => !before.includes(name))
      .filter((name) => !/\.(idx|jsonl)$/.test(name)),
  ).toEqual([]);
  for (const name of grown) expect(name).toMatch(/lanes\.sqlite|\.jsonl$/);
  for (const name of files()) expect(statSync(join(home, name)).mode & 0o077, name).toBe(0);
});

test("B138 a page of history is small whatever pictures it has; the whole entry is one request away", async () => {
  const { gateway, home } = await startGateway({ model: scriptedModel([say("hi")]), http: true });
  await gateway.send(KEY, "first");
  await gateway.stop();
  const file = transcriptOf(home);
  for (let n = 0; n < 10; n++) {
    const content = [{ type: "image", data: PNG, mimeType: "image/png" }];
    const message = { role: "toolResult", toolCallId: `c${n}`, toolName: "shot", content, isError: false };
    const last = n === 0 ? null : `p${n - 1}`;
    appendFileSync(
      file,
      `${JSON.stringify({ type: "message", id: `p${n}`, parentId: last, timestamp: "2026-06-21T13:01:34.832Z", message })}\n`,
    );
  }
  const again = await startGateway({ home, model: scriptedModel([act("read")]), http: true });
  const headers = { authorization: `Bearer ${tokenOf(home)}` };
  const page = await ask(`${again.gateway.address}/api/sessions/${encodeURIComponent(KEY)}/entries`, { headers });
  expect(page.status).toBe(200);
  expect(page.text.length).toBeLessThan(1_000_000);
  expect(page.text).toContain('"omitted":{"bytes":');
  const whole = await ask(`${again.gateway.address}/api/sessions/${encodeURIComponent(KEY)}/entries/p3`, { headers });
  expect(whole.text).toContain(PNG.slice(0, 100));
  expect(whole.text.length).toBeGreaterThan(PNG.length);
});
