/**
 * What is told of a request, and to whom. Whoever builds a request says what it is made of; whoever keeps reports does so
 * beside the path of a message and never holds it up.
 *
 * Invariant: nothing of the agent depends on a report. One that is missing is only a missing report.
 */
import type { JsonObject } from "@holdfast/base";
import type { Entry } from "@holdfast/sessions";
import type { ModelRequest } from "../../types.ts";

/** A named piece of the system prompt. Joined by an empty line, in order, the pieces are `request.system`. */
export interface SystemSection {
  readonly name: string;
  readonly text: string;
}

/** A workspace file that went into the system prompt, or would have. */
export interface InjectedFile {
  readonly name: string;
  /** Size of the file on disk. */
  readonly bytes: number;
  /** Of the whole file, hexadecimal. */
  readonly sha256: string;
  /** Characters of it that are in the prompt. */
  readonly chars: number;
  /** Why not all of it is there; null: all of it is. */
  readonly cut: string | null;
}

/** Something that is not in the request as it is in the conversation, and why. `id`: an entry, a file or a tool. */
export interface LeftOut {
  readonly id: string | null;
  readonly why: string;
}

/** What whoever built a request knows about it. */
export interface RequestFacts {
  readonly request: ModelRequest;
  /** Provider family (hygiene/families.ts). */
  readonly family: string;
  /** The leaf that it was built from. */
  readonly leaf: string | null;
  readonly sections: readonly SystemSection[];
  readonly files: readonly InjectedFile[];
  /** The summary that stands for everything before it: its entry, or null. */
  readonly compaction?: string | null;
  /** Of each message of the request: the entry that it came from; null: it was made for the request. */
  readonly sources: readonly (string | null)[];
  /** Entries and files that are not in it. */
  readonly leftOut: readonly LeftOut[];
  /** What was changed in memory: `why` says what was done. */
  readonly changed: readonly LeftOut[];
  /** Limits in force, by name: window, reserve, history, files. */
  readonly limits: JsonObject;
  /** Tokens of each part, where whoever built it has counted; else they are estimated when the report is made. */
  readonly tokens?: RequestTokens;
}

export interface RequestTokens {
  readonly system: number;
  readonly tools: number;
  /** Of each message of the request. */
  readonly messages: readonly number[];
  /** `counted`: by the model's own tokenizer. */
  readonly how: "counted" | "estimated";
}

/** Which conversation and question a request belongs to. */
export interface RequestPlace {
  /** The transcript, or null where the store has no files: then nothing is kept. */
  readonly file: string | null;
  readonly sessionId: string;
  readonly sessionKey: string;
  /** Id of the answer's entry; it may never come to be. */
  readonly answerId: string;
  /** `provider/model`. */
  readonly model: string;
  /** Entries that it was made of, so that what stands in the transcript is not kept twice. */
  readonly path: readonly Entry[];
}

/** Keeps what went into each request. */
export interface RequestLog {
  /** Resolves when it is kept, or could not be; the work is done while the model thinks. Never rejects. */
  record(place: RequestPlace, facts: RequestFacts): Promise<void>;
}
