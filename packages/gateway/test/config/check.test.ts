/** Bad configurations as a table: each names its key, its line, and the way out; all problems at once. */
import { expect, test } from "vitest";
import { checkText, type ConfigProblem } from "../../src/config/check.ts";

function problems(text: string, env: Record<string, string> = {}): readonly ConfigProblem[] {
  const checked = checkText(text, env);
  return checked.ok ? [] : checked.problems;
}

/** The whole of docs: what interfaces.md shows must be accepted as it stands. */
const DOCUMENTED = `{
  agents: {
    defaults: {
      workspace: "~/.holdfast/workspace",
      model: { primary: "openai/gpt-5.2", fallbacks: ["anthropic/claude-sonnet-4-6"] },
      timeout: "10m", bootstrapMaxChars: 20000, bootstrapTotalMaxChars: 60000, contextInjection: "always",
      contextPruning: { mode: "auto", ttl: "5m", keepLastAssistants: 3, minPrunableToolChars: 50000, softTrimRatio: 0.3, hardClearRatio: 0.5,
        softTrim: { maxChars: 4000, headChars: 1500, tailChars: 1500 },
        hardClear: { enabled: true, placeholder: "[Old tool result content cleared]" }, tools: { allow: [], deny: [] } },
      compaction: { reserveTokens: 20000, keepRecentTokens: 20000, keepRecentMessages: null, model: null, instructions: null,
        memoryFlush: { enabled: true, softThresholdTokens: 4000 } },
      heartbeat: { every: "30m", activeHours: null },
      tools: { allow: ["*"], deny: [], approve: ["exec"], others: { allow: ["read", "memory_search", "memory_get"] } },
    },
    list: [{ id: "main", default: true }],
  },
  bindings: [],
  sessions: {
    dmScope: "owner-main", identityLinks: {}, fileNames: "id", flatDirectories: [], onLimit: "drop", preset: null,
    maxHistoryMessages: null, maxHistoryTokens: null, autoCompaction: true, compactionStrategy: "summary",
    channelOverrides: { dm: {}, group: {}, thread: {}, byChannel: { telegram: {} } },
    reset: { mode: "none", atHour: 4, idle: null, timezone: null }, resetByType: {}, resetByChannel: {},
    retention: { maxAge: "30d", maxSize: "100mb", mode: "archive" },
    writeLock: { timeoutMs: 60000, staleMs: 1800000, maxHoldMs: 300000 },
    fsync: "always", store: { driver: "file", directory: null, shared: false },
  },
  lanes: { main: 4, subagent: 8, cron: 2, lease: "30s", dedupeFor: "30d", store: { driver: "sqlite" } },
  queue: { mode: "steer", debounceMs: 500, cap: 20, drop: "summarize", byChannel: {} },
  models: { providers: {}, cooldown: {} },
  memory: { inject: "main", injectDailyNotes: 2, search: { provider: "auto", model: null, chunkTokens: 400, overlapTokens: 80, vectorWeight: 0.7, maxResults: 6, transcripts: true } },
  channels: { telegram: {}, discord: {}, whatsapp: {}, feishu: {}, web: { enabled: true } },
  cron: { jobs: [] },
  tools: { modules: [], keepOutput: "30d", mcp: {} },
  gateway: { host: "127.0.0.1", port: 4653, auth: { token: null } },
}`;

test("what is documented is accepted, and says the same as nothing at all", () => {
  const documented = checkText(DOCUMENTED, {});
  const empty = checkText("{}", {});
  expect(documented).toMatchObject({ ok: true });
  if (!documented.ok || !empty.ok) throw new Error("not accepted");
  const named = { workspace: "~/.holdfast/workspace", model: documented.config.agents.defaults.model };
  expect({ ...empty.config.agents.defaults, ...named }).toEqual(documented.config.agents.defaults);
  const { byChannel, ...overrides } = documented.config.sessions.channelOverrides;
  expect(byChannel).toEqual({ telegram: {} });
  const sessions = { ...documented.config.sessions, channelOverrides: { ...overrides, byChannel: {} } };
  expect({ ...empty.config, agents: null }).toEqual({ ...documented.config, sessions, agents: null });
});

test.each([
  ["a mistyped key", "{\n agents: { defaults: {\n  timeuot: 3 } } }", "agents.defaults.timeuot", 3, "`timeout`"],
  ["a key in the wrong place", "{ port: 80 }", "port", 1, "`gateway.port`"],
  ["a key of nothing", "{\n qqqqqqqq: 1 }", "qqqqqqqq", 2, "known here: $schema, agents"],
  ["a bad duration", '{ agents: { defaults: { timeout: "5x" } } }', "agents.defaults.timeout", 1, "5m"],
  ["no time for a turn", "{ agents: { defaults: { timeout: 0 } } }", "agents.defaults.timeout", 1, '"1s"'],
  [
    "no time for one agent",
    '{ agents: { list: [{ id: "a",\n timeout: "10ms" }] } }',
    "agents.list[0].timeout",
    2,
    '"1s"',
  ],
  ["a lease that runs out at once", '{ lanes: { lease: "999ms" } }', "lanes.lease", 1, '"1s"'],
  ["keys forgotten at once", "{ lanes: { dedupeFor: 0 } }", "lanes.dedupeFor", 1, '"1m"'],
  ["more than numbers hold", `{ lanes: { lease: "${"9".repeat(400)}d" } }`, "lanes.lease", 1, "5m"],
  ["a bad size", '{ sessions: { retention: { maxSize: "much" } } }', "sessions.retention.maxSize", 1, "100mb"],
  ["a wrong type", "{\n\n gateway: {\n port: '80' } }", "gateway.port", 4, "expected number"],
  ["out of range", "{ gateway: { port: 99999 } }", "gateway.port", 1, "65535"],
  ["a wrong choice", '{ sessions: { dmScope: "all" } }', "sessions.dmScope", 1, "owner-main"],
  ["an unknown driver", '{ sessions: { store: { driver: "x" } } }', "sessions.store.driver", 1, "'file'"],
  ["a bad agent id", '{ agents: { list: [{ id: "../x" }] } }', "agents.list[0].id", 1, "lower-case"],
  [
    "the second of a list",
    '{ agents: { list: [{ id: "a" },\n { id: "b",\n modle: 1 }] } }',
    "agents.list[1].modle",
    3,
    "`model`",
  ],
  ["twice the same agent", '{ agents: { list: [{ id: "a" }, { id: "a" }] } }', "agents.list", 1, "`a`"],
  [
    "two defaults",
    '{ agents: { list: [{ id: "a", default: true }, { id: "b", default: true }] } }',
    "agents.list",
    1,
    "default",
  ],
  ["a short token", '{ gateway: { auth: { token: "short" } } }', "gateway.auth.token", 1, "16"],
  ["not an object", "[]", "", null, "expected object"],
  ["broken text", "{\n gateway: {,} }", "", 2, "invalid"],
  ["an empty file", "", "", 1, "invalid"],
  [
    "an unset variable",
    `{ gateway: { auth: { token: "\${NOT_SET_HERE}" } } }`,
    "gateway.auth.token",
    1,
    "NOT_SET_HERE",
  ],
])("%s", (_name, text, path, line, says) => {
  const [found, ...rest] = problems(text);
  expect(rest).toEqual([]);
  expect(found).toMatchObject({ path, line });
  expect(found?.message).toContain(says);
});

test("all problems are told at once", () => {
  expect(
    problems('{ a: 1, gateway: { port: "x", hots: 1 } }')
      .map(({ path }) => path)
      .sort(),
  ).toEqual(["a", "gateway.hots", "gateway.port"].sort());
});

test("variables are expanded in strings only, and can be escaped", () => {
  const text = `{ models: { providers: { p: { apiKey: "a-\${KEY}", baseUrl: "$\${KEY}" } } } }`;
  const checked = checkText(text, { KEY: "secret" });
  expect(checked.ok && checked.config.models.providers.p).toMatchObject({ apiKey: "a-secret", baseUrl: `\${KEY}` });
});

test("no value of the file is repeated in a message", () => {
  const text = `{ gateway: { auth: { token: ["\${SECRET}"] } }, models: { providers: { p: "\${SECRET}" } } }`;
  expect(JSON.stringify(problems(text, { SECRET: "hunter2-hunter2" }))).not.toContain("hunter2");
});

test("an agent of the list is the defaults with its own settings on top", () => {
  const checked = checkText(
    '{ agents: { defaults: { timeout: "1m", tools: { approve: [] } }, list: [{ id: "a", default: true }, { id: "b", tools: { deny: ["exec"] } }] } }',
    {},
  );
  if (!checked.ok) throw new Error("not accepted");
  const [a, b] = checked.config.agents.list;
  expect([a?.timeout, a?.tools.approve, b?.timeout, b?.tools]).toMatchObject([
    60_000,
    [],
    60_000,
    { approve: [], deny: ["exec"], allow: ["*"] },
  ]);
});

test.each([
  ["sessions.store.driver", '{ sessions: { store: { driver: "redis", url: "redis://127.0.0.1" } } }'],
  ["sessions.store.driver", '{ sessions: { store: { driver: "postgres", url: "postgres://127.0.0.1/x" } } }'],
  ["lanes.store.driver", '{ lanes: { store: { driver: "redis" } } }'],
])("%s: what is not there is refused, not quietly left out", (path, text) => {
  const checked = checkText(text, {});
  expect(checked.ok ? [] : checked.problems.map((problem) => problem.path)).toEqual([path]);
});
