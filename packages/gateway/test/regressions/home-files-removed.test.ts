/** Files of the home that somebody removes while the gateway runs: nothing is acknowledged that cannot be kept, and no two gateways work on. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { say, scriptedModel } from "@holdfast/agent";
import { identityOf, realWorld } from "@holdfast/base";
import { expect, onTestFinished, test } from "vitest";
import { openHome, runsElsewhere, whileOurs } from "../../src/home.ts";
import { silentLog } from "../../src/log.ts";
import { memoryLanes } from "../../src/lane-stores/memory.ts";
import { startGateway } from "../support/gateway.ts";
import { temporaryHome } from "../support/home.ts";

const world = realWorld();

test.each([["lanes.sqlite"], ["lanes.sqlite-wal"]])(
  "without %s a message is refused and not worked on",
  async (file) => {
    const model = scriptedModel(() => say("hi"));
    const { gateway, home } = await startGateway({ model });
    await gateway.send(null, "first");
    await rm(join(home, file));
    await expect(gateway.send(null, "second", { wait: false })).rejects.toMatchObject({ code: "lanes_gone" });
    expect(model.requests).toHaveLength(1);
  },
);

test("without its home.lock a gateway stops, says why, and leaves the home to the next one", async () => {
  const { gateway, home } = await startGateway({ model: scriptedModel(() => say("hi")), http: true });
  await rm(join(home, "home.lock"));
  await expect(gateway.send(null, "refused at once")).rejects.toMatchObject({ code: "home_lost" });
  expect(await gateway.lost).toMatchObject({ code: "home_lost" });
  expect(gateway.address).toBeNull();
  const next = await startGateway({ home, model: scriptedModel(() => say("again")) });
  expect(await next.gateway.send(null, "hello")).toMatchObject({ kind: "answered", answer: { answer: "again" } });
});

test("claims and new items need the lock's own file", async () => {
  const home = await openHome(await temporaryHome(), world);
  onTestFinished(() => home.release());
  const store = whileOurs(memoryLanes(world), home);
  const item = { lane: "main", key: "k", queue: "q", body: {} } as const;
  await store.enqueue(item, 1);
  await rm(join(home.path, "home.lock"));
  await expect(store.enqueue({ ...item, key: "l" }, 1)).rejects.toMatchObject({ code: "home_lost" });
  await expect(store.claim({ lane: "main", holder: "me", nowMs: 1, leaseMs: 1 })).rejects.toMatchObject({
    code: "home_lost",
  });
});

test("claims of another gateway that lives are left to it; those of a dead one, or our own, are not", async () => {
  const child = spawn("sleep", ["60"]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const holder = JSON.stringify({ home: "h", ...identityOf("t"), pid: child.pid, start: "" });
  expect(runsElsewhere(holder)).toBe(true);
  child.kill("SIGKILL");
  await once(child, "exit");
  expect(runsElsewhere(holder)).toBe(false);
  expect(runsElsewhere(JSON.stringify(identityOf("t")))).toBe(false);
  expect(runsElsewhere("not an identity")).toBe(false);
});

test.each([
  ["empty", (path: string) => writeFile(path, "")],
  ["not there", (path: string) => rm(path)],
])("lanes.sqlite is %s at a start: it is made anew, and said where there are conversations", async (_name, spoil) => {
  const warned: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };
  const model = () => scriptedModel(() => say("hi"));
  const { gateway, home } = await startGateway({ model: model(), log });
  await gateway.send(null, "first");
  await gateway.stop();
  expect(warned).toEqual([]);
  await spoil(join(home, "lanes.sqlite"));
  const next = await startGateway({ home, model: model(), log });
  expect(warned).toEqual([expect.stringContaining("lanes.sqlite is new")]);
  expect(await next.gateway.send(null, "second")).toMatchObject({ kind: "answered" });
});
