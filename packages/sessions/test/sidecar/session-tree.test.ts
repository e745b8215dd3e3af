/** The tree of a session through its own object, in stores of both kinds. */
import { memorySessions, openSessions, type Session } from "@holdfast/sessions";
import { describe, expect, test } from "vitest";
import { testDirectory } from "../support/directories.ts";
import { user } from "../support/entries.ts";

const KEY = "agent:main:main";

async function built(session: Session): Promise<void> {
  await session.append([
    { type: "model_change", id: "m", provider: "p", modelId: "one" },
    { type: "thinking_level_change", id: "t", thinkingLevel: "high" },
    { ...user("first"), id: "u1" },
    { ...user("one"), id: "a1" },
  ]);
  await session.append({ type: "session_info", id: "n", name: "plans" });
  await session.branch("u1");
  await session.append({ ...user("two"), id: "a2" });
}

async function check(session: Session): Promise<void> {
  const { tree } = session;
  const ids = (entries: readonly { id: string }[]) => entries.map(({ id }) => id);
  const children = await tree.children("u1");
  expect(ids(children)).toEqual(["a1", session.path().at(-2)?.id]);
  expect(ids(await tree.children("u1", { after: "a1", limit: 1 }))).toEqual(ids(children.slice(1)));
  expect(ids(await tree.children("a2"))).toEqual([]);
  expect(ids(await tree.children(null))).toEqual([session.path()[0]?.id]);
  expect(ids(await tree.ancestors("a1", { limit: 2 }))).toEqual(["u1", "t"]);
  expect((await tree.commonAncestor("n", "a2"))?.id).toBe("u1");
  expect((await tree.commonAncestor("a1", "n"))?.id).toBe("a1");
  expect((await tree.leaves()).map(({ entry, current }) => [entry.id, current])).toEqual([
    ["a2", true],
    ["n", false],
  ]);
  expect(ids(await tree.page({ limit: 1 }))).toEqual(["a2"]);
  expect(ids(await tree.page({ before: "u1", limit: 2 }))).toEqual(["m", "t"]);
  expect(await tree.settings()).toEqual({
    model: { provider: "p", modelId: "one" },
    thinkingLevel: "high",
    name: "plans",
  });
  expect(await tree.settings("m")).toMatchObject({ thinkingLevel: "off" });
  const leaf = session.leaf();
  for (const ask of [
    () => tree.children("x"),
    () => tree.ancestors("x"),
    () => tree.commonAncestor("u1", "x"),
    () => tree.page({ before: "x" }),
    () => tree.settings("x"),
  ]) {
    await expect(ask()).rejects.toMatchObject({ code: "entry_missing" });
  }
  expect(session.leaf()).toBe(leaf);
}

describe("children, ancestors, leaves, pages and settings", () => {
  test("of a session in memory", async () => {
    await using sessions = memorySessions();
    await using session = await sessions.open(KEY);
    await built(session);
    await check(session);
  });

  test("of a session in a directory, and opened again", async () => {
    await using directory = await testDirectory();
    {
      await using sessions = await openSessions({ directory: directory.path });
      await using session = await sessions.open(KEY);
      await built(session);
      await check(session);
    }
    await using sessions = await openSessions({ directory: directory.path });
    await using session = await sessions.open(KEY);
    await check(session);
  });
});
