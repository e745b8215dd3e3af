/** An index that somebody edited must not lead out of the home. */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runCli, temporaryDirectory } from "./support/cli.ts";

const SECRET = `${JSON.stringify({ type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" })}\n`;

async function homeWithRow(home: string, sessionFile: string): Promise<void> {
  const directory = join(home, "agents", "main", "sessions");
  await mkdir(directory, { recursive: true });
  await writeFile(join(home, "secret.jsonl"), SECRET);
  await symlink(join(home, "secret.jsonl"), join(directory, "link.jsonl"));
  await writeFile(
    join(directory, "sessions.json"),
    JSON.stringify({ "agent:main:main": { sessionId: "s1", sessionFile } }),
  );
}

test.each([["../../../secret.jsonl"], ["link.jsonl"], ["../none.jsonl"]])(
  "a row that names %s is refused",
  async (sessionFile) => {
    await using directory = await temporaryDirectory();
    await homeWithRow(directory.path, sessionFile);
    for (const command of ["tree", "context", "show"]) {
      const { code, stdout } = await runCli(["session", command, "main", "--json", "--home", directory.path]);
      expect(code).toBe(2);
      expect(JSON.parse(stdout).error.code).toBe("path_outside");
    }
  },
);
