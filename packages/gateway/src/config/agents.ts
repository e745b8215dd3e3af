/** The `agents` section: what every agent is by default, and what single agents change. */
import { isTimezone } from "@holdfast/sessions";
import { z } from "zod";
import { count, duration, durationFrom, names, positive, ratio } from "./values.ts";

const model = z.strictObject({
  primary: z
    .string()
    .nullable()
    .prefault(null)
    .describe("`provider/model`, e.g. `openai/gpt-5.2`. `null`: the offline rehearsal model."),
  fallbacks: names.prefault([]).describe("Tried in order when the primary fails."),
});

const contextPruning = z.strictObject({
  mode: z.enum(["off", "always", "cache-ttl", "auto"]).prefault("auto").describe("When old tool results are trimmed."),
  ttl: duration.prefault("5m").describe("How long the provider is taken to cache a prompt."),
  keepLastAssistants: count.prefault(3).describe("The newest answers whose tool results stay whole."),
  minPrunableToolChars: count.prefault(50_000).describe("Below this nothing is trimmed."),
  softTrimRatio: ratio.prefault(0.3).describe("Share of the window from which results are shortened."),
  hardClearRatio: ratio.prefault(0.5).describe("Share of the window from which results are cleared."),
  softTrim: z
    .strictObject({
      maxChars: count.prefault(4000).describe("Longer results are shortened."),
      headChars: count.prefault(1500).describe("Kept from the beginning."),
      tailChars: count.prefault(1500).describe("Kept from the end."),
    })
    .prefault({}),
  hardClear: z
    .strictObject({
      enabled: z.boolean().prefault(true).describe("Whether results are ever cleared."),
      placeholder: z.string().prefault("[Old tool result content cleared]").describe("What stands in their place."),
    })
    .prefault({}),
  tools: z
    .strictObject({
      allow: names.prefault([]).describe("Only results of these tools are trimmed; empty means of all."),
      deny: names.prefault([]).describe("Results of these tools are never trimmed."),
    })
    .prefault({}),
});

const compaction = z.strictObject({
  reserveTokens: count.prefault(20_000).describe("Kept free for the answer."),
  keepRecentTokens: count.prefault(20_000).describe("The newest part that is never summarised."),
  keepRecentMessages: count.nullable().prefault(null).describe("`truncate`: keep the newest N; `null`: by tokens."),
  model: z.string().nullable().prefault(null).describe("Who writes the summary; `null`: the session's model."),
  instructions: z.string().nullable().prefault(null).describe("Added to the request for a summary."),
  memoryFlush: z
    .strictObject({
      enabled: z.boolean().prefault(true).describe("Let the agent write notes before a compaction."),
      softThresholdTokens: count.prefault(4000).describe("How long before the limit."),
    })
    .prefault({}),
});

const tools = z.strictObject({
  allow: names.prefault(["*"]).describe("Tools for the owner's direct chats, command line and dashboard."),
  deny: names.prefault([]).describe("Never, for nobody; wins over `allow`."),
  approve: names
    .prefault(["exec"])
    .describe("Not without a yes: names, or `name:pattern` for some calls only, as in `exec:git push*`."),
  approvalExpires: duration.prefault("1d").describe("How long a request for a yes waits for its answer."),
  others: z
    .strictObject({
      allow: names
        .prefault(["read", "memory_search", "memory_get"])
        .describe("Tools for everybody else and in every group."),
    })
    .prefault({}),
});

const settings = {
  workspace: z
    .string()
    .nullable()
    .prefault(null)
    .describe("Folder of the agent's files. `null`: `workspace` in the home, `workspace-<agentId>` for other agents."),
  model: model.prefault({}),
  timeout: durationFrom("1s").prefault("10m").describe("Longest time of one turn."),
  timezone: z
    .string()
    .refine(isTimezone, "expected an IANA name such as `Europe/Berlin`")
    .nullable()
    .prefault(null)
    .describe(
      "The user's, IANA name: whose day the notes are of, and the time the model is told. `null`: that of `sessions.reset`, else the machine's.",
    ),
  bootstrapMaxChars: positive.prefault(20_000).describe("Most characters of one workspace file in the prompt."),
  bootstrapTotalMaxChars: positive.prefault(60_000).describe("Most characters of all of them."),
  contextInjection: z
    .enum(["always", "continuation-skip", "never"])
    .prefault("always")
    .describe(
      "When workspace files enter the prompt: `continuation-skip`: not where an earlier turn of the branch had the same ones.",
    ),
  contextPruning: contextPruning.prefault({}),
  compaction: compaction.prefault({}),
  heartbeat: z
    .strictObject({
      every: duration.prefault("30m").describe("How often the agent looks by itself."),
      activeHours: z.string().nullable().prefault(null).describe("`HH:MM-HH:MM`; `null`: always."),
    })
    .prefault({}),
  tools: tools.prefault({}),
};

export const agentId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, "expected lower-case letters, digits, `-` and `_`, at most 64");

/** What one agent is, everything filled in. */
export const agentDefaults = z.strictObject(settings);
export const agentEntry = z.strictObject({
  id: agentId.describe("Name in session keys."),
  default: z.boolean().prefault(false).describe("Whether messages without another address go here."),
  ...settings,
});

export const agents = z.strictObject({
  defaults: agentDefaults.prefault({}),
  list: z
    .array(agentEntry)
    .min(1)
    .prefault([{ id: "main", default: true }])
    .describe("The agents. An entry may override anything under `agents.defaults`."),
});
