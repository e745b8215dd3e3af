/** Looking at a directory of conversations without touching it. */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSessions } from "@holdfast/sessions";
import { listingOf } from "@holdfast/sessions/listing";

async function contents(directory: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(directory)).filter((name) => !name.endsWith(".lock"));
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name), "utf8")] as const)),
  );
}

test("it sees what the store sees, while that is open and after it was closed, and writes nothing", async () => {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-listing-"));
  try {
    const sessions = await openSessions({ directory, agentId: "main" });
    for (const key of ["agent:main:main", "agent:main:web:direct:1"]) {
      await using session = await sessions.open(key);
      await session.append({ type: "message", message: { role: "user", content: key } });
    }
    await sessions.update("agent:main:main", { label: "mine" });
    const expected = await sessions.list();
    const before = await contents(directory);
    expect(await listingOf(directory)).toEqual({ sessions: expected, problems: [] });
    expect(await contents(directory)).toEqual(before);
    await sessions.close();
    expect((await listingOf(directory)).sessions).toEqual(expected);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});

test("a directory that is not there is an error, one without conversations is empty", async () => {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-listing-"));
  expect(await listingOf(directory)).toEqual({ sessions: [], problems: [] });
  await rm(directory, { recursive: true });
  await expect(listingOf(directory)).rejects.toThrow(/ENOENT/);
});
