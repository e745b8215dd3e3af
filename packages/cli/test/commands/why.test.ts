/** `session why`: the name as it was understood, and what a message would find, against conversations made by the library. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openSessions } from "@holdfast/sessions";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/cli.ts";
import { runHere } from "../support/here.ts";

const KEY = "agent:main:telegram:direct:7";
const DAY_MS = 86_400_000;

async function homeWith(config: string) {
  const dir = await temporaryDirectory();
  const home = join(dir.path, "home");
  const directory = join(home, "agents", "main", "sessions");
  await mkdir(home, { recursive: true });
  await writeFile(join(home, "holdfast.json"), config);
  await using sessions = await openSessions({ directory });
  await using session = await sessions.open(KEY);
  await session.append({ type: "message", id: "q1", message: { role: "user", content: "one" } });
  await sessions.update(KEY, { lastInteractionAt: Date.now() - 2 * DAY_MS, sessionStartedAt: Date.now() - 3 * DAY_MS });
  const why = async (name: string) => {
    const { code, stdout } = await runHere(["--home", home, "session", "why", name, "--json"]);
    return { code, value: JSON.parse(stdout) };
  };
  return { home, directory, why, sessionId: session.id, [Symbol.asyncDispose]: dir[Symbol.asyncDispose] };
}

test("a name by each of its ways, with the row, the verdict, the file and the leaf", async () => {
  await using home = await homeWith("{}");
  const whole = await home.why(KEY);
  expect(whole).toMatchObject({
    code: 0,
    value: {
      key: KEY,
      by: "its key",
      row: { sessionId: home.sessionId },
      lookUp: { kind: "resumed", reason: "no_policy" },
      reason: "Resumed: no reset is configured.",
      file: join(home.directory, `${home.sessionId}.jsonl`),
      place: "live",
      context: { leaf: "q1", messages: 1 },
    },
  });
  expect((await home.why("telegram_7")).value).toMatchObject({
    key: KEY,
    by: "where that person's direct messages go",
  });
  expect((await home.why(home.sessionId.slice(0, 20))).value.by).toBe("the beginning of its key or session id");
  expect((await home.why("agent:main:fresh")).value).toMatchObject({
    row: null,
    lookUp: { kind: "new", reason: "no_row" },
    place: "not there",
    context: null,
  });
  expect((await home.why("nobody")).code).toBe(5);
});

test("a reset that is due is named with its rule; one that was put away says so", async () => {
  await using home = await homeWith("{ sessions: { reset: { mode: 'idle', idle: '1d' } } }");
  expect((await home.why(KEY)).value).toMatchObject({
    lookUp: { kind: "reset", reason: "idle" },
    reason: expect.stringMatching(/^Reset: idle for 1440 min \(reset\); due since \d{4}-/),
    policy: { from: { idle: "reset" } },
  });
  expect((await runHere(["--home", home.home, "session", "archive", KEY])).code).toBe(0);
  expect((await home.why(KEY)).value).toMatchObject({ place: "archived", context: { leaf: expect.any(String) } });
  const { stdout } = await runHere(["--home", home.home, "session", "why", KEY]);
  expect(stdout).toContain("(in the archive; the next message brings it back)");
});
