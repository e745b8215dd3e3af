/** What can be told: who sends what, what the model answers, which person and platform there are, and which rule is broken. */
import type { Agent, Effect, Model, ScriptedStep, Tool } from "@holdfast/agent";
import type { ActionFolders } from "@holdfast/agent/internal";
import type { LaneStore } from "@holdfast/gateway/internal";
import type { Sessions } from "@holdfast/sessions";
import type { Disk } from "@holdfast/sessions/internal";

export const KEY = "agent:main:main";
export const ACTIONS = "/home/actions";
export const SESSIONS = "/home/agents/main/sessions";

/** How long a call waits for its yes. */
export const APPROVAL_MS = 86_400_000;

export interface Message {
  readonly key: string;
  readonly text: string;
  readonly mode?: "steer" | "followup" | "collect" | "interrupt";
}

export interface Story {
  readonly name: string;
  /** Sent at the beginning, by clients that send again in every life until they are told. */
  readonly messages: readonly Message[];
  /** Sent while a call of `slow` runs. */
  readonly meanwhile?: readonly Message[];
  /** While a call of `slow` runs, a person goes back to where the conversation began. */
  readonly branches?: boolean;
  /** Every message is sent twice, and again in every life. */
  readonly redelivers?: boolean;
  /** What the model answers, by what it is asked. */
  readonly model: ScriptedStep;
  /** Tools that need a yes; what the person says once asked, and how long that takes. */
  readonly approve?: readonly string[];
  readonly decision?: "yes" | "no" | ((summary: string) => "yes" | "no");
  readonly decidesAfterMs?: number;
  /** Sent once a call waits for its yes. */
  readonly whileWaiting?: readonly Message[];
  /** How long the platform knows a reply again, and what is done with a send that is uncertain. */
  readonly platform?: { readonly dedupeMs: number; readonly uncertain?: "hold" | "resend" };
  /** Before every life but the first a person puts something else into the file. */
  readonly interferes?: boolean;
  /** In every life but the first: what the tools call themselves, and which home it is. */
  readonly laterEffect?: Effect;
  readonly laterHome?: string;
  /** How many lives it may take; a few when left out. */
  readonly livesMax?: number;
  /** Breaks one rule on purpose. */
  readonly mutate?: (parts: Parts) => Parts;
}

/** What a life is made of, before it begins; a mutation changes some of it. */
export interface Parts {
  readonly store: LaneStore;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly folders: ActionFolders;
  readonly disk: Disk;
  readonly model: Model;
  /** What is made while the life runs, before anybody uses it. */
  readonly sessions: (sessions: Sessions) => Sessions;
  readonly agent: (agent: Agent) => Agent;
  readonly send: (
    send: (message: Message) => Promise<void>,
    tell: (key: string) => Promise<void>,
  ) => (message: Message) => Promise<void>;
}
