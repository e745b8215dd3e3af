/** Where messages go, as a table. */
import { expect, test } from "vitest";
import { type DmScope, route, routeKey } from "../src/routes.ts";

const routing = { agents: ["main", "other"], defaultAgent: "main", dmScope: "owner-main" as DmScope };

function arrival(from: { id?: string; owner?: boolean }, asked: string | null = null, channel = "telegram") {
  return {
    message: {
      key: "k",
      text: "t",
      from: { id: "7", name: null, owner: false, ...from },
      address: { channel, account: "bot", chat: "7", thread: null },
      receivedMs: 0,
    },
    asked,
    clientKey: null,
  };
}

test.each([
  ["owner-main", true, "agent:main:main"],
  ["owner-main", false, "agent:main:telegram:bot:direct:7"],
  ["main", false, "agent:main:main"],
  ["per-peer", true, "agent:main:direct:7"],
  ["per-channel-peer", false, "agent:main:telegram:direct:7"],
  ["per-account-channel-peer", false, "agent:main:telegram:bot:direct:7"],
] as const)("%s, owner %s → %s", (dmScope, owner, sessionKey) => {
  expect(route(arrival({ owner }), { ...routing, dmScope })).toEqual({ kind: "to", agentId: "main", sessionKey });
});

test("the owner may choose a key, also of another agent; nobody else may", () => {
  const asked = "agent:other:cli:direct:me";
  expect(route(arrival({ owner: true }, asked), routing)).toEqual({ kind: "to", agentId: "other", sessionKey: asked });
  expect(route(arrival({ owner: false }, asked), routing)).toMatchObject({
    sessionKey: "agent:main:telegram:bot:direct:7",
  });
});

test.each([" ", ""])("an empty sender (%j) belongs to no conversation", (id) => {
  expect(route(arrival({ id, owner: true }), routing)).toMatchObject({ kind: "refused", code: "no_peer" });
});

test("a sender's id cannot forge a key", () => {
  const to = route(arrival({ id: "7:thread:1/../x" }), routing);
  expect(to).toMatchObject({ sessionKey: "agent:main:telegram:bot:direct:7%3Athread%3A1%2F..%2Fx" });
});

test.each([
  ["../x", "bad_session_key"],
  ["agent:main:../x", "bad_session_key"],
  ["agent:main:a:..", "bad_session_key"],
  ["agent:main:", "bad_session_key"],
  ["main", "bad_session_key"],
  ["agent:main:a\nb", "bad_session_key"],
  [`agent:main:${"x".repeat(600)}`, "bad_session_key"],
  ["agent:nobody:main", "no_agent"],
])("%j is refused: %s", (key, code) => {
  expect(routeKey(key, routing)).toMatchObject({ kind: "refused", code });
});
