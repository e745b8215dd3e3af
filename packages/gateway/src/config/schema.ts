/**
 * The one schema of `holdfast.json`: validation, types and docs/config.md come from here.
 * Every object is strict, so a mistyped key is an error and never a setting that silently does nothing.
 */
import { z } from "zod";
import { agentId, agents } from "./agents.ts";
import { TOKEN } from "./credentials.ts";
import { count, duration, durationFrom, free, names, overrideOf, positive, ratio, size } from "./values.ts";

const resetSettings = {
  mode: z.enum(["none", "daily", "idle", "both"]).prefault("none").describe("When a conversation starts afresh."),
  atHour: z.int().min(0).max(23).prefault(4).describe("Hour of the daily reset."),
  idle: duration.nullable().prefault(null).describe("Idle time after which it starts afresh."),
  timezone: z.string().nullable().prefault(null).describe("IANA name; `null`: the machine's."),
};
const reset = z.strictObject(resetSettings);

const historySettings = {
  onLimit: z.enum(["drop", "compact"]).prefault("drop").describe("What happens to messages beyond the limits."),
  preset: z.enum(["small"]).nullable().prefault(null).describe("`small`: 50 messages / 8000 tokens."),
  maxHistoryMessages: positive.nullable().prefault(null).describe("Most messages the model sees; `null`: no limit."),
  maxHistoryTokens: positive.nullable().prefault(null).describe("Most tokens of history; `null`: the model's window."),
  autoCompaction: z.boolean().prefault(true).describe("Compact by itself when the window fills."),
  compactionStrategy: z.enum(["summary", "truncate"]).prefault("summary").describe("How a compaction is made."),
};
const override = overrideOf(historySettings);

const store = z
  .discriminatedUnion("driver", [
    z.strictObject({
      driver: z.literal("file"),
      directory: z.string().nullable().prefault(null),
      shared: z.boolean().prefault(false),
    }),
    z.strictObject({ driver: z.literal("redis"), url: z.string(), prefix: z.string().prefault("holdfast:") }),
    z.strictObject({ driver: z.literal("postgres"), url: z.string(), schema: z.string().prefault("holdfast") }),
  ])
  .prefault({ driver: "file" })
  .describe("Where sessions live.");

const sessions = z.strictObject({
  dmScope: z
    .enum(["owner-main", "main", "per-peer", "per-channel-peer", "per-account-channel-peer"])
    .prefault("owner-main")
    .describe("Which conversation a direct message belongs to."),
  identityLinks: z.record(z.string(), names).prefault({}).describe("Names that are one person."),
  fileNames: z.enum(["id", "channel-user"]).prefault("id").describe("How transcript files are named."),
  flatDirectories: names
    .prefault([])
    .describe(
      "Folders with files `<channel>_<user>.jsonl` of the older layout: direct chats of the default agent, read in place. Relative to the home.",
    ),
  ...historySettings,
  channelOverrides: z
    .strictObject({
      dm: override.prefault({}),
      group: override.prefault({}),
      thread: override.prefault({}),
      byChannel: z.record(z.string(), override).prefault({}).describe("By channel; wins over the chat type."),
    })
    .prefault({}),
  reset: reset.prefault({}),
  resetByType: z.record(z.string(), overrideOf(resetSettings)).prefault({}).describe("`sessions.reset` by chat type."),
  resetByChannel: z.record(z.string(), overrideOf(resetSettings)).prefault({}).describe("`sessions.reset` by channel."),
  retention: z
    .strictObject({
      maxAge: duration.prefault("30d").describe("Older conversations are put away."),
      maxSize: size.prefault("100mb").describe("So are the oldest beyond this total."),
      mode: z
        .enum(["archive", "report", "delete-archives"])
        .prefault("archive")
        .describe(
          "`archive`: into the archive, and back at the next message. `report`: only said in the log. `delete-archives`: as `archive`, and archived background work (schedules, subagents) is destroyed `maxAge` after it was put away; conversations of people never are.",
        ),
    })
    .prefault({}),
  writeLock: z
    .strictObject({
      timeoutMs: positive.prefault(60_000).describe("How long a writer waits for its turn."),
      staleMs: positive.prefault(1_800_000).describe("When a holder that cannot be checked counts as gone."),
      maxHoldMs: positive.prefault(300_000).describe("A longer hold is reported as a bug."),
    })
    .prefault({}),
  fsync: z.enum(["always", "turn", "never"]).prefault("always").describe("When writes are forced to the disk."),
  store,
});

const lanes = z.strictObject({
  main: positive.prefault(4).describe("Turns that run at once."),
  subagent: positive.prefault(8).describe("Turns of subagents that run at once."),
  cron: positive.prefault(2).describe("Scheduled turns that run at once."),
  lease: durationFrom("1s").prefault("30s").describe("How long a claim holds without renewal."),
  dedupeFor: durationFrom("1m").prefault("30d").describe("How long a message key is remembered."),
  store: z
    .strictObject({ driver: z.enum(["sqlite", "redis", "postgres"]).prefault("sqlite").describe("Where lanes live.") })
    .prefault({}),
});

const queueMode = z.enum(["steer", "followup", "collect", "interrupt"]);
const dropPolicy = z.enum(["summarize", "old", "new"]);
const queue = z.strictObject({
  mode: queueMode
    .prefault("steer")
    .describe(
      "What a message to a busy session does: join its turn, wait, wait and be taken together, or take its place.",
    ),
  debounceMs: count.prefault(500).describe("Milliseconds that followup and collect wait for more."),
  cap: positive.prefault(20).describe("Most messages that wait."),
  drop: dropPolicy.prefault("summarize").describe("What gives way at the cap."),
  byChannel: z
    .record(
      z.string(),
      z.strictObject({
        mode: queueMode.optional(),
        debounceMs: count.optional(),
        cap: positive.optional(),
        drop: dropPolicy.optional(),
      }),
    )
    .prefault({})
    .describe("The same, by channel."),
});

const provider = z.strictObject({
  api: z
    .string()
    .optional()
    .describe(
      "Protocol: `openai-completions`, `openai-responses`, `anthropic-messages`, `google-generative-ai`, `mistral-conversations`. A known provider's own, else the first.",
    ),
  baseUrl: z.string().optional().describe("Address of the API."),
  apiKey: z
    .union([z.string(), z.array(z.string()).min(1)])
    .optional()
    .describe(
      "One, or several of which the next is taken where one is refused. Better from the environment, or in credentials.json.",
    ),
  models: z
    .array(
      z.strictObject({
        id: z.string(),
        contextWindow: positive.optional(),
        maxTokens: positive.optional(),
        input: z.array(z.enum(["text", "image"])).optional(),
      }),
    )
    .prefault([])
    .describe(
      'What the provider offers: `{ id, contextWindow, maxTokens, input: ["text", "image"] }`; what is left out is as listed for known models.',
    ),
});

const spendLimit = z.strictObject({
  tokens: positive.nullable().prefault(null).describe("Most tokens, of questions and answers; `null`: no limit."),
  cost: z
    .number()
    .positive()
    .nullable()
    .prefault(null)
    .describe("Most US dollars, by listed prices; `null`: no limit."),
});

const models = z.strictObject({
  spend: z
    .strictObject({
      turn: spendLimit.prefault({}).describe("For one message."),
      day: spendLimit.prefault({}).describe("For all agents in one day."),
      agentDay: spendLimit.prefault({}).describe("For each agent in one day."),
    })
    .prefault({})
    .describe("A message that would go on beyond a limit ends, and says so."),
  providers: z.record(z.string(), provider).prefault({}).describe("By name; the part before `/` of a model's name."),
  cooldown: free.prefault({}).describe("How long a failing profile rests."),
});

const memory = z.strictObject({
  inject: z.enum(["main", "always", "never"]).prefault("main").describe("Whose prompt has MEMORY.md and notes."),
  injectDailyNotes: count.prefault(2).describe("Days of notes in the prompt, today included."),
  search: z
    .strictObject({
      provider: z.string().prefault("auto").describe("Who makes vectors."),
      model: z.string().nullable().prefault(null).describe("Its model."),
      chunkTokens: positive.prefault(400).describe("Size of a passage."),
      overlapTokens: count.prefault(80).describe("What neighbours share."),
      vectorWeight: ratio.prefault(0.7).describe("Weight of meaning against words."),
      maxResults: positive.prefault(6).describe("Most passages."),
      transcripts: z.boolean().prefault(true).describe("Whether conversations are searched."),
    })
    .prefault({}),
});

function isPattern(text: string): boolean {
  try {
    return new RegExp(text, "u") instanceof RegExp;
  } catch {
    return false;
  }
}

const channels = z.strictObject({
  telegram: free.prefault({}),
  discord: free.prefault({}),
  whatsapp: free.prefault({}),
  feishu: free.prefault({}),
  web: z.strictObject({ enabled: z.boolean().prefault(true).describe("Serve the web page.") }).prefault({}),
});

const binding = z.strictObject({
  agentId,
  match: z.strictObject({
    channel: z.string(),
    accountId: z.string().optional(),
    peer: z.strictObject({ kind: z.string(), id: z.string() }).optional(),
  }),
});

const job = z.strictObject({
  id: z.string(),
  at: z.string().optional(),
  every: duration.optional(),
  cron: z.string().optional(),
  timezone: z.string().optional(),
  session: z.enum(["isolated", "main"]).prefault("isolated"),
  contextMode: z.enum(["full", "lightweight"]).prefault("full"),
  message: z.string(),
  deliver: z.unknown().optional(),
  missed: z.enum(["skip", "once", "all"]).prefault("skip"),
});

const effect = z.enum(["none", "idempotent", "checkable", "opaque"]);
const pattern = z.string().refine(isPattern, "expected a regular expression");
const mcpServer = z
  .strictObject({
    command: z.string().min(1).optional().describe("Program that speaks MCP over its standard input and output."),
    args: names.prefault([]).describe("Its arguments."),
    env: z.record(z.string(), z.string()).prefault({}).describe("Its environment, besides PATH, HOME and the like."),
    url: z
      .url({ protocol: /^https?$/u })
      .optional()
      .describe("Address of a server that speaks streamable HTTP; instead of `command`."),
    headers: z.record(z.string(), z.string()).prefault({}).describe("Headers of every request to it."),
    timeout: duration.prefault("60s").describe("Longest time of one call."),
    effects: z
      .record(z.string(), effect)
      .prefault({})
      .describe("By tool: what repeating a call means, instead of what the server says."),
    probes: z
      .record(
        z.string(),
        z.strictObject({
          tool: z.string().min(1).describe("Tool of the same server that tells."),
          arguments: z.record(z.string(), z.string()).prefault({}).describe("`{name}`: from those of the call."),
          happened: pattern.describe("Fits its answer when the call was done."),
          absent: pattern.describe("Fits its answer when it was not."),
        }),
      )
      .prefault({})
      .describe("By tool: how to find out after a crash whether a call was done."),
  })
  .refine(
    ({ command, url }) => (command === undefined) !== (url === undefined),
    "expected `command` or `url`, one of them",
  );

export const configSchema = z.strictObject({
  $schema: z.string().optional().describe("For editors; ignored."),
  agents: agents.prefault({}),
  bindings: z.array(binding).prefault([]).describe("`{ agentId, match: { channel, accountId, peer } }`."),
  sessions: sessions.prefault({}),
  lanes: lanes.prefault({}),
  queue: queue.prefault({}),
  models: models.prefault({}),
  memory: memory.prefault({}),
  channels: channels.prefault({}),
  cron: z.strictObject({ jobs: z.array(job).prefault([]).describe("Scheduled messages.") }).prefault({}),
  tools: z
    .strictObject({
      modules: names.prefault([]).describe("Own tools."),
      keepOutput: duration.prefault("30d").describe("How long output and evidence of ended actions are kept."),
      mcp: z
        .record(z.string().regex(/^[a-z][a-z0-9-]{0,31}$/u), mcpServer)
        .prefault({})
        .describe("MCP servers, by name: docs/guide/tools.md."),
    })
    .prefault({}),
  gateway: z
    .strictObject({
      host: z
        .string()
        .min(1)
        .prefault("127.0.0.1")
        .describe("Address to listen on; anything but loopback is open to the network."),
      port: z.int().min(0).max(65_535).prefault(4653).describe("Port; 0: any free one."),
      auth: z
        .strictObject({
          token: z
            .string()
            .regex(TOKEN, "expected 16 to 512 printable ASCII characters without spaces")
            .nullable()
            .prefault(null)
            .describe("Bearer token. `null`: made once, kept in credentials.json."),
        })
        .prefault({}),
    })
    .prefault({}),
});

export type Config = z.output<typeof configSchema> & {
  /** Names of the environment variables that its text was filled from; absent where there were none. */
  readonly expanded?: readonly string[];
};
export type ConfigInput = z.input<typeof configSchema>;
export type AgentConfig = Config["agents"]["list"][number];
