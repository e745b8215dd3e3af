/** Answers that went to the wrong place or person elsewhere; ids as in the collection of cases. */
import { join } from "node:path";
import { type Address, failed, type Message, say, scriptedModel } from "@holdfast/agent";
import { makePrivateDirectory, realWorld } from "@holdfast/base";
import { expect, test, vi } from "vitest";
import { mainItem, outgoingOf } from "../../src/bodies.ts";
import type { LaneItem } from "../../src/lanes.ts";
import { sqliteLanes } from "../../src/lane-stores/sqlite.ts";
import { route } from "../../src/routes.ts";
import { configOf, startGateway } from "../support/gateway.ts";
import { temporaryHome } from "../support/home.ts";

const KEY = "agent:main:main";
const PAGE: Address = { channel: "web", account: "local", chat: "page", thread: null };
const TOPIC: Address = { channel: "telegram", account: "bot", chat: "-100", thread: "42" };

function messageFrom(address: Address, text: string, from: Partial<Message["from"]> = {}): Message {
  return { key: text, text, from: { id: "owner", name: null, owner: true, ...from }, address, receivedMs: 0 };
}

/** A gateway that finds these messages waiting in one conversation; all replies it made, text and address, in order. */
async function repliesTo(
  messages: readonly (readonly [Address, string])[],
  model: ReturnType<typeof scriptedModel>,
): Promise<(readonly [string, Address])[]> {
  const home = await temporaryHome();
  await makePrivateDirectory(home);
  const lanes = sqliteLanes(join(home, "lanes.sqlite"), realWorld());
  for (const [address, text] of messages) {
    await lanes.enqueue(mainItem({ message: messageFrom(address, text), asked: KEY, clientKey: null }, KEY), 0);
  }
  await startGateway({ home, model });
  const sent = (): Promise<readonly LaneItem[]> => lanes.list({ lane: "out" });
  await vi.waitFor(async () => expect(await sent()).toHaveLength(messages.length), { timeout: 15_000 });
  const replies = (await sent()).map((item) => outgoingOf(item).reply);
  await lanes.close();
  return replies.map(({ text, to }) => [text, to] as const);
}

test("B147 without any configuration two people on one channel have a conversation each, and neither has the owner's", () => {
  const { dmScope } = configOf("{}").sessions;
  const routing = { agents: ["main"], defaultAgent: "main", dmScope };
  const chat = { ...TOPIC, thread: null };
  const keys = ["7", "8", "owner"].map((id) => {
    const message = messageFrom({ ...chat, chat: id }, "what is the code?", { id, owner: id === "owner" });
    return route({ message, asked: null, clientKey: null }, routing);
  });
  expect(new Set(keys.map((to) => (to.kind === "to" ? to.sessionKey : to.kind))).size).toBe(3);
});

test("B149 each answer goes to where its question came from, whatever else the conversation was told meanwhile", async () => {
  const model = scriptedModel([say("to the page"), say("to the topic"), say("to the page again")]);
  const replies = await repliesTo(
    [
      [PAGE, "one"],
      [TOPIC, "two"],
      [PAGE, "three"],
    ],
    model,
  );
  expect(replies).toEqual([
    ["to the page", PAGE],
    ["to the topic", TOPIC],
    ["to the page again", PAGE],
  ]);
});

test("B151 an answer, a queued one, one after a restart and an error stay in their topic", async () => {
  const model = scriptedModel([say("first"), failed("bad_request"), say("third")]);
  const replies = await repliesTo(
    [
      [TOPIC, "one"],
      [TOPIC, "two"],
      [TOPIC, "three"],
    ],
    model,
  );
  expect(replies.map(([, to]) => to)).toEqual([TOPIC, TOPIC, TOPIC]);
  expect(replies.map(([text]) => text)).toEqual(["first", expect.not.stringMatching(/^(first|third)$/), "third"]);
});
