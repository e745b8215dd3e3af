/** Branches as people see them: which ends there are, what tells them apart, and that book-keeping is not among them. */
import { appendFile } from "node:fs/promises";
import fc from "fast-check";
import { branchesOf, editAndResend, labelEntry, memorySessions, type Session } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { openSessions } from "@holdfast/sessions";
import { testDirectory } from "./support/directories.ts";
import { answer, user } from "./support/entries.ts";

const KEY = "agent:main:main";

async function fresh(): Promise<Session> {
  return memorySessions().open(KEY);
}
const say = async (session: Session, id: string, parentId?: string): Promise<void> => {
  if (parentId !== undefined) await session.branch(parentId);
  await session.append({ ...user(id), id });
};

test("a conversation in which nothing was said has no branches", async () => {
  expect(await branchesOf(await fresh()).leaves()).toEqual([]);
});

test("ends carry their last activity, depth, label and first own words; moves and labels are no ends", async () => {
  const session = await fresh();
  await say(session, "a");
  await session.append({ ...answer("b"), id: "b", timestamp: "2026-01-05T09:00:00.000Z" });
  await say(session, "c", "a");
  await say(session, "d");
  await labelEntry(session, "b", "kept");
  await session.branch("a");
  const leaves = await branchesOf(session).leaves();
  expect(leaves.map(({ id, depth, current, differs, label }) => [id, depth, current, differs.words, label])).toEqual([
    [session.leaf(), 1, true, "a", null],
    ["b", 2, false, "b", "kept"],
    [expect.any(String), 3, false, "c", null],
  ]);
  expect(leaves[1]?.lastActivity).toBe("2026-01-05T09:00:00.000Z");
  expect(leaves[1]?.differs.role).toBe("assistant");
});

test("going on from the end of a branch takes what was changed on it along", async () => {
  const session = await fresh();
  await say(session, "a");
  await say(session, "b");
  await session.append({ type: "context_edit", targetId: "a", replacement: { content: "changed" } });
  await say(session, "c", "a");
  const [left] = await branchesOf(session).leaves();
  await session.branch(left?.id ?? "");
  expect((await session.context()).messages.map(({ content }) => content)).toEqual(["changed", "b"]);
});

test("unknown ids are refused", async () => {
  const branches = branchesOf(await fresh());
  await expect(branches.childrenOf("nobody")).rejects.toMatchObject({ code: "entry_missing" });
  await expect(branches.commonAncestor("nobody", "else")).rejects.toMatchObject({ code: "entry_missing" });
});

test("in any tree: ends are what nothing was said after, differing words differ, ancestors are those of the model", async () => {
  const choice = fc.array(fc.nat(), { minLength: 1, maxLength: 25 });
  await fc.assert(
    fc.asyncProperty(choice, fc.nat(), fc.nat(), async (choices, x, y) => {
      const session = await fresh();
      const parents: number[] = [];
      for (const [n, pick] of choices.entries()) {
        const parent = n === 0 ? -1 : pick % n;
        parents.push(parent);
        if (n > 0 && parent === n - 1) await say(session, `n${n}`);
        else await say(session, `n${n}`, parent === -1 ? undefined : `n${parent}`);
      }
      const branches = branchesOf(session);
      const leaves = await branches.leaves();
      const ends = parents.map((_, n) => n).filter((n) => !parents.includes(n));
      expect(leaves.map(({ id }) => id)).toEqual(ends.map((n) => `n${n}`));
      expect(leaves.filter(({ current }) => current).map(({ id }) => id)).toEqual([`n${choices.length - 1}`]);
      if (leaves.length > 1) expect(new Set(leaves.map(({ differs }) => differs.id)).size).toBe(leaves.length);
      for (const [n] of parents.entries()) {
        const children = (await branches.childrenOf(`n${n}`)).map(({ id }) => id);
        expect(children).toEqual(parents.flatMap((parent, child) => (parent === n ? [`n${child}`] : [])));
      }
      const above = (n: number): number[] => (n === -1 ? [] : [n, ...above(parents[n] ?? -1)]);
      const [a, b] = [x % choices.length, y % choices.length];
      const common = above(a).find((n) => above(b).includes(n));
      const found = await branches.commonAncestor(`n${a}`, `n${b}`);
      if (common !== undefined) expect((await session.entry(found ?? ""))?.id).toBe(`n${common}`);
    }),
    { numRuns: 40 },
  );
}, 20_000);

test("20,000 siblings under one message, and a path of 20,000", async () => {
  await using directory = await testDirectory();
  await using sessions = await openSessions({ directory: directory.path, fsync: "never" });
  await using session = await sessions.open(KEY);
  await say(session, "root");
  const line = (id: string, parentId: string): string =>
    `${JSON.stringify({ type: "message", id, parentId, timestamp: "2026-01-05T09:00:00.000Z", message: { role: "user", content: id } })}\n`;
  const siblings = Array.from({ length: 20_000 }, (_, n) => line(`s${n}`, "root"));
  const path = Array.from({ length: 20_000 }, (_, n) => line(`p${n}`, n === 0 ? "root" : `p${n - 1}`));
  await appendFile(session.file ?? "", [...siblings, ...path].join(""));
  await session.catchUp();
  const branches = branchesOf(session);
  const leaves = await branches.leaves();
  expect(leaves).toHaveLength(20_001);
  expect(leaves.at(-1)).toMatchObject({ id: "p19999", current: true, depth: 20_001, differs: { id: "p0" } });
  expect(await branches.childrenOf("root")).toHaveLength(20_001);
  expect(await branches.commonAncestor("s5", "p19999")).toBe("root");
}, 20_000);

test("an edit of the first message is a root of its own", async () => {
  const session = await fresh();
  await say(session, "a");
  await editAndResend(session, "a", "b");
  const leaves = await branchesOf(session).leaves();
  expect(leaves.map(({ differs }) => differs.words)).toEqual(["a", "b"]);
});
