/** A folder of the older layout in the configuration: its direct chats are those of the default agent, and go on. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { say, scriptedModel } from "@holdfast/agent";
import { openSessions } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { startGateway } from "./support/gateway.ts";
import { temporaryHome } from "./support/home.ts";

const KEY = "agent:main:telegram:direct:7";
const OLD = '{"id":"m1","parentId":null,"role":"user","content":"My name is Ada.","timestamp":1710000000}\n';

test("the model is shown what the flat file says; the answer goes to a transcript, the file stays", async () => {
  const home = await temporaryHome();
  await mkdir(join(home, "old"), { recursive: true });
  const file = join(home, "old", "telegram_7.jsonl");
  await writeFile(file, OLD);
  const config = JSON.stringify({
    sessions: { flatDirectories: ["old"] },
    agents: { list: [{ id: "main", default: true }, { id: "other" }] },
  });
  const model = scriptedModel([say("Ada.")]);
  const { gateway } = await startGateway({ home, config, model });
  expect(await gateway.send(KEY, "What is my name?")).toMatchObject({ answer: { answer: "Ada." } });
  expect(JSON.stringify(model.requests[0])).toContain("My name is Ada.");
  await gateway.stop();
  expect(await readFile(file, "utf8")).toBe(OLD);
  await using sessions = await openSessions({ directory: join(home, "agents", "main", "sessions") });
  await using session = await sessions.open(KEY);
  expect((await session.context()).messages).toHaveLength(3);
  await using others = await openSessions({ directory: join(home, "agents", "other", "sessions") });
  expect(await others.list()).toEqual([]);
});
