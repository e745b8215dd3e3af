/** The index under locks that are files: taken over with a journal of its own, folded by nobody while a folder may live. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { identityOf } from "@holdfast/base";
import { openSessions, type Sessions } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { testDirectory } from "../../support/directories.ts";

const KEY = "agent:main:main";
const elsewhere = (): string => `${JSON.stringify({ ...identityOf("theirs"), boot: "another" })}\n`;

const open = (directory: string): Promise<Sessions> =>
  openSessions({ directory, onProblem: () => {}, writeLock: { mode: "create", staleMs: 1000 } });

const journals = async (directory: string): Promise<string[]> =>
  (await readdir(directory)).filter((name) => name.startsWith("sessions.journal-")).toSorted();

test("whoever takes the index over begins a new journal: what is added to the old one later comes before", async () => {
  await using directory = await testDirectory();
  await using sessions = await open(directory.path);
  await (await sessions.open(KEY)).close();
  await sessions.update(KEY, { label: "before" });
  const [first = ""] = await journals(directory.path);
  const late = (await readFile(join(directory.path, first), "utf8")).trimEnd().split("\n").at(-1);
  await writeFile(join(directory.path, "sessions.held"), elsewhere());
  await sessions.update(KEY, { label: "after" });
  expect(await journals(directory.path)).toHaveLength(2);
  await writeFile(join(directory.path, first), `${late}\n`, { flag: "a" });
  await using again = await open(directory.path);
  expect(await again.get(KEY)).toMatchObject({ label: "after" });
  expect(await readdir(join(directory.path, "sessions.held.reclaim"))).toEqual([]);
});

test("a fold is left to whoever may still be in the middle of one; the journals stay", async () => {
  await using directory = await testDirectory();
  const sessions = await open(directory.path);
  await (await sessions.open(KEY)).close();
  await writeFile(join(directory.path, "sessions.fold.held"), elsewhere());
  await sessions.close();
  expect(await journals(directory.path)).toHaveLength(1);
  await using again = await open(directory.path);
  expect(await again.get(KEY)).toBeDefined();
});
