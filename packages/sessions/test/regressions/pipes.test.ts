/** A pipe in the place of a file: refused at once, never waited for. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { openSessions, SessionError } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { contextOfTranscript, verifyTranscript } from "../../src/transcript.ts";
import { testDirectory } from "../support/directories.ts";

test("as a transcript", async () => {
  await using directory = await testDirectory();
  const path = join(directory.path, "a.jsonl");
  execFileSync("mkfifo", [path]);
  for (const read of [verifyTranscript, contextOfTranscript])
    await expect(read(path)).rejects.toMatchObject({ code: "not_a_file" });
});

test("as the index", async () => {
  await using directory = await testDirectory();
  execFileSync("mkfifo", [join(directory.path, "sessions.json")]);
  await using sessions = await openSessions({ directory: directory.path });
  await expect(sessions.list()).rejects.toBeInstanceOf(SessionError);
});
