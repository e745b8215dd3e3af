/** Cases of peers in which files and exports opened a way for others: each named by its id in the collection. */
import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSessions } from "@holdfast/sessions";
import { afterAll, beforeAll, expect, test } from "vitest";
import { exportTranscript } from "../../src/keeping/export.ts";
import { importHistory } from "../../src/keeping/import.ts";
import { repairTranscript } from "../../src/keeping/repair.ts";
import { migrateOpenClaw } from "../../src/migrate/openclaw.ts";
import { migratePi } from "../../src/migrate/pi.ts";
import { fileOf, HEADER, tempDir, user } from "../support/make.ts";
import { testPlace } from "../support/place.ts";

const umask = { before: 0 };
beforeAll(() => {
  umask.before = process.umask(0o022);
});
afterAll(() => {
  process.umask(umask.before);
});

const IDS = ["../../x", "..%2f..%2fx", "/etc/passwd", "C:\\x", "a\u0000b", "x".repeat(300), "", "a/b", "."];

test.each(IDS)("B179 an id %j from a file never becomes a path", async (id) => {
  await using dir = await tempDir();
  await using place = await testPlace();
  const outside = await readdir(join(place.directory, ".."));
  await mkdir(join(dir.path, "sessions"));
  await writeFile(join(dir.path, "sessions", "a.jsonl"), fileOf([user("u1", null, "x")], { ...HEADER, id }));
  await migratePi(place, { from: dir.path, agentId: "main" });
  const file = join(dir.path, "sessions", "a.jsonl");
  const { sessionId } = await importHistory(place, { file, key: "agent:main:main" });
  expect(sessionId).toMatch(/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/);
  const after = (await readdir(join(place.directory, ".."))).filter((name) => !name.startsWith("holdfast-"));
  expect(after).toEqual(outside.filter((name) => !name.startsWith("holdfast-")));
});

test("B179 a transcript outside of the home, also through a link, is not carried over", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  const secret = await dir.write("secret.jsonl", fileOf([user("u1", null, "secret")]));
  const home = join(dir.path, "openclaw");
  const sessions = join(home, "agents", "main", "sessions");
  await mkdir(sessions, { recursive: true });
  await symlink(secret, join(sessions, "linked.jsonl"));
  const rows = {
    "agent:main:a": { sessionId: "a", sessionFile: secret },
    "agent:main:b": { sessionId: "b", sessionFile: "../../../../secret.jsonl" },
    "agent:main:c": { sessionId: "linked" },
  };
  await writeFile(join(sessions, "sessions.json"), JSON.stringify(rows));
  const report = await migrateOpenClaw({ from: home, placeFor: async () => place });
  expect(report.carried).toEqual([]);
  expect(report.skipped.length).toBeGreaterThanOrEqual(3);
  const written = await readdir(place.directory, { recursive: true, withFileTypes: true });
  for (const entry of written.filter((one) => one.isFile())) {
    expect(await readFile(join(entry.parentPath, entry.name), "utf8")).not.toContain("secret");
  }
});

test("B181 whatever is made is for its owner only: imports, repairs, side files, archives, folders", async () => {
  await using dir = await tempDir();
  await using place = await testPlace();
  const text = fileOf([user("u1", null, "one")]);
  await importHistory(place, { file: await dir.write("s-1.jsonl", text), key: "agent:main:main" });
  const broken = join(place.directory, "broken.jsonl");
  await writeFile(broken, `${text}torn`, { mode: 0o600 });
  await repairTranscript(broken);
  const home = join(dir.path, "openclaw");
  await mkdir(join(home, "agents", "main", "sessions"), { recursive: true });
  await writeFile(join(home, "agents", "main", "sessions", "old.jsonl.reset.1"), text);
  await migrateOpenClaw({ from: home, placeFor: async () => place });
  await using sessions = await openSessions({ directory: place.directory });
  await using session = await sessions.open("agent:main:main");
  await session.append({ type: "custom", customType: "x" });
  const made = await readdir(place.directory, { recursive: true, withFileTypes: true });
  expect(made.length).toBeGreaterThan(6);
  for (const entry of made) {
    const mode = (await stat(join(entry.parentPath, entry.name))).mode & 0o777;
    expect([entry.name, mode.toString(8)]).toEqual([entry.name, entry.isDirectory() ? "700" : "600"]);
  }
});

test.each([
  "[x](javascript:alert(1))",
  "[x](JaVa&#9;Script:alert(1))",
  "<a href=data:text/html,x>y</a>",
  "[x](vbscript:x)",
])("B183 %j in an export is text, not a link", async (text) => {
  await using dir = await tempDir();
  const file = await dir.write("s-1.jsonl", fileOf([user("u1", null, text)]));
  const pieces: string[] = [];
  for await (const piece of exportTranscript(file, { format: "html" })) pieces.push(String(piece));
  const html = pieces.join("");
  expect(html).not.toMatch(/<a\s/);
  expect(html).toContain("default-src 'none'");
});
