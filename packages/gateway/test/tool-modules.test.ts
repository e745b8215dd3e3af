/** Tools of one's own: the guide's example against a desk that counts, and modules that cannot be used. */
import { createServer } from "node:http";
import { once } from "node:events";
import { copyFile, mkdir, readFile, writeFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { act, say, scriptedModel } from "@holdfast/agent";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "./support/gateway.ts";
import { temporaryHome } from "./support/home.ts";

const EXAMPLE = new URL("../../../examples/tools/ticket.ts", import.meta.url).pathname;
const KEY = "agent:main:main";

/** A help desk: what it made, and how often it was asked to. */
async function desk() {
  const tickets = new Map<string, string>();
  const keys: string[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://desk");
    response.setHeader("content-type", "application/json");
    if (request.method === "GET") {
      const number = tickets.get(url.searchParams.get("ref") ?? "");
      return response.end(JSON.stringify(number === undefined ? [] : [{ number }]));
    }
    let body = "";
    for await (const piece of request) body += piece;
    keys.push(String(request.headers["idempotency-key"]));
    const number = `T${keys.length}`;
    tickets.set((JSON.parse(body) as { ref: string }).ref, number);
    return response.end(JSON.stringify({ number }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { keys, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test("the guide shows the example as it is", async () => {
  const guide = await readFile(new URL("../../../docs/guide/tools.md", import.meta.url), "utf8");
  expect(guide).toContain(`\`\`\`ts\n${await readFile(EXAMPLE, "utf8")}\`\`\``);
});

test("the example makes one ticket for one item, whoever asks, and finds it after a restart", async () => {
  const { keys, url } = await desk();
  process.env.TICKETS_URL = url;
  onTestFinished(() => void delete process.env.TICKETS_URL);
  const home = await temporaryHome();
  await mkdir(join(home, "tools"), { recursive: true });
  await copyFile(EXAMPLE, join(home, "tools", "ticket.ts"));
  const config = JSON.stringify({ tools: { modules: ["tools/ticket.ts"] } });
  const args = { meeting: "2026-06-21", item: 2, title: "Book the room" };
  const first = await startGateway({ home, config, model: scriptedModel([act("create_ticket", args), say("Made.")]) });
  expect(await first.gateway.send(KEY, "make it")).toMatchObject({ answer: { answer: "Made." } });
  await first.gateway.stop();
  const model = scriptedModel([act("create_ticket", { ...args, title: "The room" }), say("It is there.")]);
  const { gateway } = await startGateway({ home, config, model });
  await gateway.send("agent:main:web:other", "make it again");
  expect(keys).toHaveLength(1);
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toMatch(/Done before.*Ticket T1 was created/u);
});

test.each([
  ["missing.ts", null, /missing\.ts/],
  ["throws.ts", "throw new Error('no desk');", /no desk/],
  ["nothing.ts", "export const tool = 1;", /default export/],
  [
    "half.ts",
    "export default { spec: { name: 'x', description: 'x', parameters: { type: 'object' } }, effect: 'none', check: () => null };",
    /run/,
  ],
  [
    "blind.ts",
    "export default { spec: { name: 'x', description: 'x', parameters: { type: 'object' } }, effect: 'checkable', check: () => null, run: async () => ({}) };",
    /no probe/,
  ],
  [
    "taken.ts",
    "export default { spec: { name: 'write', description: 'x', parameters: { type: 'object' } }, effect: 'none', check: () => null, run: async () => ({}) };",
    /already/,
  ],
])("%s is named when the gateway starts, and it does not", async (name, source, why) => {
  const home = await temporaryHome();
  if (source !== null) await writeFile(join(home, name), source);
  const config = JSON.stringify({ tools: { modules: [name] } });
  await expect(startGateway({ home, config })).rejects.toMatchObject({
    code: "tool_module_unusable",
    message: expect.stringMatching(why),
  });
});
