/** `session search` on the real command line: live, archived and ended conversations, all branches, several agents. */
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSessions } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { runCli, temporaryDirectory } from "../support/cli.ts";

const user = (content: string) => ({ type: "message", message: { role: "user", content } }) as const;

async function homeWith(home: string): Promise<string> {
  const directory = join(home, "agents", "main", "sessions");
  await using sessions = await openSessions({ directory, agentId: "main" });
  const live = await sessions.open("agent:main:main");
  const { entries } = await live.append([user("第二项待办：写周报"), user("left behind: 待办")]);
  await live.branch(entries[0]!.id);
  await live.append(user("nothing of interest"));
  for (const name of ["away", "ended"]) await (await sessions.open(`agent:main:${name}`)).append(user(`${name} 待办`));
  await sessions.keep.archive("agent:main:away");
  await sessions.keep.clear("agent:main:ended");
  await using others = await openSessions({ directory: join(home, "agents", "work", "sessions"), agentId: "work" });
  await (await others.open("agent:work:main")).append(user("work 待办"));
  return directory;
}

test("finds it everywhere, says where, and nothing outside the home is opened", async () => {
  await using dir = await temporaryDirectory();
  const home = join(dir.path, "home");
  const directory = await homeWith(home);
  const outside = join(dir.path, "outside.jsonl");
  await writeFile(outside, `${JSON.stringify({ ...user("outside 待办"), id: "o", parentId: null })}\n`);
  await symlink(outside, join(directory, "linked.jsonl"));
  const { code, stdout } = await runCli(["session", "search", "待办", "--json", "--home", home]);
  expect(code).toBe(0);
  const { hits, more, searched, unreadable } = JSON.parse(stdout);
  expect([more, searched, unreadable]).toEqual([false, 4, []]);
  const found = hits.map((hit: Record<string, unknown>) => [hit.key, hit.archived, hit.current, hit.excerpt]);
  expect(found.toSorted()).toEqual([
    ["agent:main:away", true, true, "away 待办"],
    ["agent:main:ended", true, true, "ended 待办"],
    ["agent:main:main", false, false, "left behind: 待办"],
    ["agent:main:main", false, true, "第二项待办：写周报"],
    ["agent:work:main", false, true, "work 待办"],
  ]);
  const mine = await runCli(["session", "search", "待办", "--agent", "work", "--json", "--home", home]);
  expect(JSON.parse(mine.stdout).hits).toHaveLength(1);
  const people = await runCli(["session", "search", "INTEREST", "--home", home]);
  expect(people.stdout).toMatch(
    /agent:main:main\n {2}\S+ {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}user {2}nothing of interest\n1 found in 4/,
  );
  const few = await runCli(["session", "search", "待办", "--limit", "1", "--json", "--home", home]);
  expect(JSON.parse(few.stdout)).toMatchObject({ hits: [{}], more: true });
});

test("no text is refused, an empty home has nothing", async () => {
  await using dir = await temporaryDirectory();
  expect(await runCli(["session", "search", " ", "--home", dir.path])).toMatchObject({ code: 2 });
  const none = await runCli(["session", "search", "x", "--json", "--home", dir.path]);
  expect(JSON.parse(none.stdout)).toEqual({ hits: [], more: false, searched: 0, unreadable: [] });
});
