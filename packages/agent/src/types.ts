/**
 * The agent's vocabulary and ports. The agent turns one message into entries and a reply; everything it needs from
 * outside arrives through these interfaces, joined by the gateway's composition root.
 */
import type { PruningSettings } from "./context/pruning/prune.ts";
import type { Spent } from "./spend.ts";
import type { Json, JsonObject, World } from "@holdfast/base";
import type { ActionFolders } from "./actions/folder.ts";
import type { CompactionSettings } from "./context/compaction/compact.ts";
import type { RequestLog } from "./context/report/types.ts";
import type { BootstrapPorts } from "./context/bootstrap/inject.ts";
import type { Weight } from "./context/bootstrap/kinds.ts";
import type { ContentBlock, Entry, EntryMessage, Fsync, Sessions } from "@holdfast/sessions";

/** Where a reply goes. */
export interface Address {
  readonly channel: string;
  readonly account: string;
  readonly chat: string;
  readonly thread: string | null;
}

/** A file that came with a message. It lies in the workspace, whole and durable, before the message is accepted. */
export interface Attachment {
  /** As its sender called it. */
  readonly name: string;
  /** MIME type, as its sender said. */
  readonly type: string;
  readonly bytes: number;
  /** In the workspace, relative. */
  readonly path: string;
}

/** What arrived, made uniform. `key` = `<channel>:<account>:<chat>:<platform message id>`. */
export interface Message {
  readonly key: string;
  readonly text: string;
  readonly from: { readonly id: string; readonly name: string | null; readonly owner: boolean };
  readonly address: Address;
  readonly receivedMs: number;
  readonly attachments?: readonly Attachment[];
  /** Messages that gave way to this one because too many waited: the beginning of each. The model is told. */
  readonly dropped?: readonly string[];
  /** How much of the workspace its prompt is given; everything its kind of run has when left out. Never from outside. */
  readonly weight?: Weight;
}

export interface Reply {
  readonly to: Address;
  readonly text: string;
  /** The transcript entry this reply was made from; the outbound key derives from it. */
  readonly entryId: string;
}

/** One accepted message on its way; owned by the lane store. */
export interface TurnItem {
  readonly id: string;
  readonly sessionKey: string;
  readonly message: Message;
  /** Set at the item's first opening; later claims use it whatever happened to the session meanwhile. */
  readonly start: { readonly sessionId: string; readonly leaf: string | null } | null;
  /** 1 for the first. */
  readonly attempt: number;
}

/** An accepted message that is answered in another one's turn. */
export type Joining = Pick<TurnItem, "id" | "message" | "start">;

/** What has come for this conversation while its turn is at work. Everything in it is durable. */
export interface Arrived {
  /** Nothing more is begun; `person`: somebody asked for that, `newer`: a newer message takes its place. */
  readonly stop: "person" | "newer" | null;
  /** Taken into this turn before, also by an earlier life of it; oldest first. */
  readonly joined: readonly Joining[];
  /** To be taken into this turn before the model is asked again; oldest first. */
  readonly steer: readonly Joining[];
  /** To be taken into it only as long as its own message has not been heard. */
  readonly collect: readonly Joining[];
}

export type Decision = "yes" | "no" | "expired";

/** A call that waits for a person's yes. `id`: of the entry that asks. */
export interface ApprovalRequest {
  readonly id: string;
  readonly tool: string;
  /** What is to be done, for people. */
  readonly summary: string;
  readonly expiresMs: number;
}

/** How a turn ended. */
export interface TurnEnd {
  readonly entryId: string;
  readonly text: string;
  readonly failed: boolean;
  /** Stopped by a person or overtaken: nothing is sent. */
  readonly silent: boolean;
  /** What was the matter with the model, where that was it. */
  readonly failure?: ModelFailureCode;
  /** Items that end with it: their messages are answered by the same entry. */
  readonly joined: readonly Joining[];
}

/** Why a model call failed; closed, each with what follows in docs/errors.md. */
export type ModelFailureCode =
  | "rate_limited"
  | "overloaded"
  | "timeout"
  | "connection"
  | "auth"
  | "billing"
  | "bad_request"
  | "context_overflow"
  | "content_filter"
  | "bad_answer"
  | "not_set_up"
  | "unknown";
export interface ModelFailure {
  readonly code: ModelFailureCode;
  /** For people; holds no secret. */
  readonly message: string;
  readonly status: number | null;
  readonly retryAfterMs: number | null;
  readonly retryable: boolean;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly parameters: JsonObject;
}
export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly EntryMessage[];
  readonly tools: readonly ToolSpec[];
  /** For providers with a prompt cache and for logs. */
  readonly sessionId: string;
}
export type ModelDelta =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "thinking"; readonly text: string }
  | { readonly kind: "call"; readonly name: string };
export interface ModelAnswer {
  readonly content: readonly ContentBlock[];
  readonly stop: "stop" | "toolUse" | "length" | "failed" | "aborted";
  readonly failure: ModelFailure | null;
  readonly usage: JsonObject | null;
  readonly by: { readonly provider: string; readonly model: string; readonly api: string };
}
/** Whom to ask for one answer, where there is a choice. Whoever was taken is told how it ended. */
export interface Route {
  /** Who is asked now, or why nobody can be (any more). */
  next(): { readonly asks: Model } | ModelFailure;
  failed(failure: ModelFailure): void;
  answered(): void;
  /** The question was broken off: nothing is learned. */
  left(): void;
}
export interface Model {
  /** `provider/model`. */
  readonly name: string;
  /** Where it stands for several: who of them answers a conversation's next question. */
  route?(sessionId: string): Route;
  /** The protocol it is asked with; left out: not known, and what it is sent has the strictest form. */
  readonly api?: string;
  /** Whether it can be shown pictures; left out: it can. */
  seesPictures?(): Promise<boolean>;
  /** Tokens of its window, of the smallest where it stands for several; left out, or infinite: not known. */
  contextWindow?(): Promise<number>;
  /**
   * Asks for one answer. Never rejects because a provider failed or the signal aborted: that becomes an answer with
   * `stop: "failed"` or `"aborted"`. `onDelta` is provisional and must not throw. Must not keep or change `request`.
   */
  ask(
    request: ModelRequest,
    options: { readonly signal: AbortSignal; readonly onDelta: (delta: ModelDelta) => void },
  ): Promise<ModelAnswer>;
}

/** What repeating a call means (durability.md, "Actions"). */
export type Effect = "none" | "idempotent" | "checkable" | "opaque";
export type Verdict = "not_started" | "happened" | "absent" | "conflict" | "unknown";

export interface ToolOutcome {
  readonly ok: boolean;
  readonly text: string;
  readonly details?: JsonObject;
}
export type Probe =
  | { readonly kind: "happened"; readonly outcome: ToolOutcome; readonly evidence: JsonObject }
  | { readonly kind: "absent" | "conflict" | "unknown"; readonly evidence: JsonObject; readonly says: string }
  /** The work still runs; `wait` resolves when it has ended and the probe should be asked again. */
  | { readonly kind: "in_flight"; readonly wait: (signal: AbortSignal) => Promise<void> };

export interface ToolContext {
  readonly workspace: string;
  readonly world: World;
  readonly signal: AbortSignal;
  /** The action's stable idempotency key. */
  readonly key: string;
  /** This attempt's own folder, for tools that keep files; created before the intent, and not at all for `effect: "none"`. */
  readonly attemptDirectory: string;
}
export interface Tool {
  readonly spec: ToolSpec;
  readonly effect: Effect;
  /** What repeating this call means, where that depends on its arguments. Asked with arguments that `check` accepts. */
  effectOf?(args: JsonObject): Effect;
  /** May run beside other such calls of one answer. Left out: only what has no effect may. */
  readonly parallel?: boolean;
  /**
   * The business act, where there is one (ticket for meeting X, item 2): the same name is the same act in every session of
   * the agent, and one that happened is not done again. Asked with arguments that `check` accepts.
   */
  identity?(args: JsonObject): string | undefined;
  /** Checks arguments before anything is written; a text is the refusal that the model sees. */
  check(args: JsonObject): string | null;
  /** Evidence of the world before the effect; stored in the intent. Changes nothing. */
  prepare?(args: JsonObject, context: ToolContext): Promise<JsonObject>;
  /** After a crash: what does the world say? Changes nothing, except that it may make a late start impossible. */
  probe?(args: JsonObject, evidence: JsonObject, context: ToolContext): Promise<Probe>;
  /** The effect. A failure that the tool understands is an outcome with `ok: false`; anything thrown is recorded as an error. */
  run(args: JsonObject, evidence: JsonObject, context: ToolContext): Promise<ToolOutcome>;
}

/** What observers are told; never a step of the path. */
export type Observation =
  | { readonly kind: "turn"; readonly state: "began" | "ended"; readonly itemId: string; readonly outcome?: string }
  | { readonly kind: "delta"; readonly itemId: string; readonly answerId: string; readonly delta: ModelDelta }
  | { readonly kind: "withdrawn"; readonly itemId: string; readonly answerId: string }
  | { readonly kind: "entries"; readonly entries: readonly Entry[]; readonly durable: boolean }
  | {
      readonly kind: "action";
      readonly entryId: string;
      readonly ordinal: number;
      readonly state: "running" | "settled";
    };
export type Observe = (sessionKey: string, observation: Observation) => void;

/** What the agent is made of. */
export interface Agent {
  readonly id: string;
  readonly sessions: Sessions;
  readonly model: Model;
  readonly tools: ReadonlyMap<string, Tool>;
  readonly workspace: string;
  /** How what the workspace's own files say comes into the prompt. */
  readonly bootstrap?: BootstrapPorts;
  readonly world: World;
  readonly home: { readonly id: string; readonly boot: string; readonly fsync: Fsync; readonly actions: string };
  /** Where its actions have their places; in `home.actions` when left out. */
  readonly folders?: ActionFolders;
  /** This process's name in claims, e.g. `<home id>:<identity>`. */
  readonly holder: string;
  readonly observe: Observe;
  /** How much of a conversation its model sees; all of it when left out. */
  history?(item: Pick<TurnItem, "sessionKey" | "message">): {
    readonly maxMessages?: number;
    readonly maxTokens?: number;
  };
  /** How old results of tools are shortened in requests; not at all when left out. */
  readonly pruning?: PruningSettings;
  /** How a conversation is shortened; as in docs/config.md when left out. */
  readonly compaction?: CompactionSettings;
  /** Keeps what went into each request, for people; left out: nothing is kept. */
  readonly requests?: RequestLog;
  /** Asked before each question: what keeps it from being asked for money's sake, for people; no limit when left out. */
  maySpend?(turn: Spent): string | null;
  /** Longest time of one message, waits for a provider included; no end when left out. Milliseconds. */
  readonly timeoutMs?: number;
  /** Longest silence of a model that is answering; `LIMITS.modelIdleMs` when left out. Milliseconds. */
  readonly modelIdleMs?: number;
  /** Whether a call may run: null, the text that the model gets instead, or that a person has to say yes. */
  allowed(message: Message, tool: Tool, args: JsonObject): string | null | { readonly expiresInMs: number };
  /** Remembers where the item began, durably, before the first entry. */
  began(item: TurnItem, start: { readonly sessionId: string; readonly leaf: string | null }): Promise<void>;
  /** What has come meanwhile. Asked before each step, and around each intent. */
  arrived(item: TurnItem): Promise<Arrived>;
  /** Takes waiting messages into the turn, durably; false: one of them is not waiting any more, and none was taken. */
  join(
    item: TurnItem,
    joining: readonly Joining[],
    start: { readonly sessionId: string; readonly leaf: string | null },
  ): Promise<boolean>;
  /**
   * Tells the sender something that is no answer, once: with a `key` that is known nothing is done. True: it is new, and will be
   * sent. Left out: there is nobody to tell.
   */
  tell?(item: TurnItem, what: { readonly key: string; readonly text: string }): Promise<boolean>;
  /** Charges an attempt, durably, after the turn right is obtained. False: the budget is used up. */
  charge(item: TurnItem): Promise<boolean>;
  /** Queues the reply to each address under a key derived from its entry and settles the items, in one step. Idempotent. */
  finish(item: TurnItem, end: TurnEnd): Promise<void>;
}

export type TurnOutcome =
  | { readonly kind: "replied"; readonly sessionId: string; readonly entryId: string; readonly text: string }
  /** Somebody else works on this session or action; try again after the delay, uncharged. */
  | { readonly kind: "busy"; readonly by: string; readonly delayMs: number }
  /** Nothing goes on before a person has decided; the right is given back. */
  | { readonly kind: "waiting"; readonly approvals: readonly ApprovalRequest[] }
  /** The model failed and another attempt may help. */
  | { readonly kind: "retry"; readonly failure: ModelFailure; readonly delayMs: number }
  /**
   * It ends here. With an entry: in the log, and queued to the sender. `entryId: null` (`cancelled`, `stale_turn`): nothing
   * was written and the item is not settled.
   */
  | {
      readonly kind: "stopped";
      readonly code:
        | "turn_steps_max"
        | "spend_limit"
        /** It went round in circles. */
        | "turn_loop"
        | "turn_timeout"
        | "cancelled"
        | "model_failed"
        | "attempts_used"
        | "stale_turn"
        | "stopped";
      readonly entryId: string | null;
      readonly text: string;
      readonly failure?: ModelFailureCode;
    };
export type { Json };
