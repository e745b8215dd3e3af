/** `approvals`, `lanes` and `actions`, with and without a gateway, on a home with a call that waits for a yes. */
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runCli, temporaryDirectory } from "../support/cli.ts";

/** The rehearsal model runs what it is told to. */
async function asked() {
  const directory = await temporaryDirectory();
  const home = join(directory.path, "home");
  const sent = await runCli(["send", "--session", "main", "Run `echo ran > ran.txt`", "--home", home]);
  return { directory, home, sent, ran: () => existsSync(join(home, "workspace", "ran.txt")) };
}

describe("a call that waits for a yes", () => {
  test("is listed with what it would do, also without a gateway, and looking starts nothing", async () => {
    const { directory, home, sent, ran } = await asked();
    await using _directory = directory;
    expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining("/approve ") });
    const listed = await runCli(["approvals", "--home", home]);
    expect(listed.stdout).toContain("echo ran > ran.txt");
    const { approvals } = JSON.parse((await runCli(["approvals", "--json", "--home", home])).stdout);
    expect(approvals).toMatchObject([{ tool: "exec", session: "agent:main:main" }]);
    expect((await runCli(["lanes", "--home", home])).stdout).toMatch(/waiting.*approval/);
    expect(ran()).toBe(false);
  });

  test("runs once it is approved, and is in the ledger as done", async () => {
    const { directory, home, ran } = await asked();
    await using _directory = directory;
    const [approval] = JSON.parse((await runCli(["approvals", "--json", "--home", home])).stdout).approvals;
    expect(await runCli(["approvals", "approve", approval.id.slice(0, 8), "--home", home])).toMatchObject({ code: 0 });
    expect(ran()).toBe(true);
    const { actions } = JSON.parse((await runCli(["actions", "--json", "--home", home])).stdout);
    expect(actions).toMatchObject([{ tool: "exec", state: "done", session: "agent:main:main" }]);
    expect((await runCli(["actions", "--open", "--home", home])).stdout).toContain("Nothing is open");
    expect(JSON.parse((await runCli(["lanes", "--json", "--home", home])).stdout)).toEqual({ items: [] });
  });

  test("is not run once it is denied; a second answer has nothing to answer", async () => {
    const { directory, home, ran } = await asked();
    await using _directory = directory;
    const [approval] = JSON.parse((await runCli(["approvals", "--json", "--home", home])).stdout).approvals;
    expect(await runCli(["approvals", "deny", approval.id, "--home", home])).toMatchObject({ code: 0 });
    expect(ran()).toBe(false);
    const again = await runCli(["approvals", "approve", approval.id, "--home", home]);
    expect([again.code === 0, again.stderr]).toEqual([false, expect.stringContaining("waits for an answer")]);
  });
});

test("an action that nobody could tell is settled by a person, once it is said what was found", async () => {
  await using directory = await temporaryDirectory();
  const home = join(directory.path, "home");
  expect(await runCli(["actions", "settle", "abc", "--home", home])).toMatchObject({ code: 2 });
  expect(await runCli(["actions", "settle", "abc", "--happened", "--home", home])).toMatchObject({ code: 5 });
  await writeFile(join(directory.path, "x"), "");
  expect((await runCli(["actions", "--home", home])).stdout).toContain("No action is on record");
});
