/** Bootstraps by hash. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { realWorld } from "@holdfast/base";
import { expect, test } from "vitest";
import { keptBeside, keptInMemory } from "../../../src/context/bootstrap/kept.ts";

import { compose } from "../../../src/context/bootstrap/compose.ts";
import { createRequestLog } from "../../../src/context/report/request-log.ts";
import type { RequestFacts } from "../../../src/context/report/types.ts";
import { joinSections, systemSections } from "../../../src/context/system-prompt.ts";

const owner = { id: "s", file: null };
const bootstrap = (hash: string) => ({ hash, sections: [], files: [] });

test("the longest unused one goes first", async () => {
  const kept = keptInMemory(2);
  await kept.put(owner, bootstrap("a"));
  await kept.put(owner, bootstrap("b"));
  expect(await kept.get(owner, "a")).toEqual(bootstrap("a"));
  await kept.put(owner, bootstrap("c"));
  expect(await kept.get(owner, "b")).toBeUndefined();
  expect(await kept.get(owner, "a")).toEqual(bootstrap("a"));
});

test("a later life finds what an earlier one was given among the requests beside the transcript", async () => {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-kept-"));
  try {
    const file = join(directory, "s.jsonl");
    const made = compose(
      { files: [{ name: "MEMORY.md", text: "Old.", bytes: 4, sha256: "0".repeat(64), problem: null }], skills: [] },
      { maxChars: 1000, totalMaxChars: 1000 },
    );
    const log = createRequestLog({ world: realWorld(() => {}), onProblem: (why) => expect.unreachable(why) });
    for (const bootstrap of [made.sections, []]) {
      const sections = systemSections({ agentId: "a", workspace: "/w", timezone: "UTC", tools: [], bootstrap });
      const request = { system: joinSections(sections), messages: [], tools: [], sessionId: "s" };
      const place = { file, sessionId: "s", sessionKey: "agent:a:main", answerId: "x", model: "m/m", path: [] };
      const rest = { family: "unknown", leaf: null, sources: [], leftOut: [], changed: [], limits: {} };
      const files = bootstrap.length > 0 ? made.files : [];
      await log.record(place, { request, sections, files, ...rest } as RequestFacts);
    }
    expect(await keptBeside().get({ id: "s", file }, made.hash)).toEqual(made);
    expect(await keptBeside().get({ id: "s", file }, "other")).toBeUndefined();
    await writeFile(join(directory, "s.requests"), "damaged");
    expect(await keptBeside().get({ id: "s", file }, made.hash)).toBeUndefined();
    expect(await keptBeside().get({ id: "s", file: join(directory, "none", "s.jsonl") }, made.hash)).toBeUndefined();
  } finally {
    await rm(directory, { recursive: true });
  }
});
