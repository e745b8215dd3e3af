/**
 * What each family of providers insists on, as data: the only place that knows one family from another.
 *
 * Invariant: a provider that nobody here knows gets the strictest form, which all of them accept.
 */
import { ALNUM_9, type IdRule, PAIRED_64, wordId } from "./ids.ts";

export type Family =
  | "openai-completions"
  | "openai-responses"
  | "anthropic"
  | "google"
  | "mistral"
  /** Models of our own: nothing goes over a wire. */
  | "own"
  | "unknown";

/** Who is asked. `api`: the protocol (docs/config.md, `models.providers.<id>.api`), null: it does not say. */
export interface Target {
  readonly provider: string;
  readonly model: string;
  readonly api: string | null;
  /** False: it cannot be shown any. */
  readonly pictures?: boolean;
}

export interface ImageRule {
  readonly types: ReadonlySet<string>;
  /** Of one, decoded, and of all in one request. */
  readonly bytesMax: number;
  readonly totalBytesMax: number;
  /** Longest edge in pixels; the second where a request holds more than `manyFrom`. */
  readonly edgeMax: number;
  readonly manyFrom: number;
  readonly manyEdgeMax: number;
  readonly countMax: number;
  /** Also in results of calls; false: they would have to stand where no message may. */
  readonly inResults: boolean;
}

export interface Rules {
  readonly ids: IdRule;
  /**
   * Which thoughts go back to the model that had them; nobody else's ever do. `signed`: with a signature that can be
   * verified. `items`: stored items, together with what followed them.
   */
  readonly thoughts: "all" | "own" | "signed" | "items" | "none";
  /** The first message has to be a person's, the last must not be an answer. */
  readonly userFirst: boolean;
  /** Neighbours of one role are one message. */
  readonly alternates: boolean;
  /** Between results and a person's message there has to be an answer. */
  readonly answersResults: boolean;
  /** Letters, digits, `_` and `-` only. */
  readonly plainNames: boolean;
  readonly images: ImageRule;
}

const MIB = 1024 * 1024;
const COMMON = ["image/png", "image/jpeg", "image/webp"] as const;
const USUAL: ImageRule = {
  types: new Set([...COMMON, "image/gif"]),
  bytesMax: 20 * MIB,
  totalBytesMax: 45 * MIB,
  edgeMax: 16_000,
  manyFrom: 500,
  manyEdgeMax: 16_000,
  countMax: 500,
  inResults: true,
};
/** 5 MB are counted of the base64 text; 32 MB of the whole request. */
const ANTHROPIC_IMAGES: ImageRule = {
  ...USUAL,
  bytesMax: Math.floor((5 * MIB * 3) / 4),
  totalBytesMax: 20 * MIB,
  edgeMax: 8_000,
  manyFrom: 20,
  manyEdgeMax: 2_000,
  countMax: 100,
};
const GOOGLE_IMAGES: ImageRule = { ...USUAL, types: new Set(COMMON), bytesMax: 7 * MIB, totalBytesMax: 14 * MIB };
const MISTRAL_IMAGES: ImageRule = { ...USUAL, bytesMax: 10 * MIB, edgeMax: 10_000, countMax: 8 };
const STRICTEST_IMAGES: ImageRule = {
  ...ANTHROPIC_IMAGES,
  types: new Set(COMMON),
  totalBytesMax: 10 * MIB,
  countMax: 8,
  inResults: false,
};

const LENIENT = {
  ids: wordId(40),
  thoughts: "own",
  userFirst: false,
  alternates: false,
  answersResults: false,
  plainNames: true,
  images: USUAL,
} as const satisfies Rules;

const RULES: Readonly<Record<Family, Rules>> = {
  "openai-completions": LENIENT,
  "openai-responses": { ...LENIENT, ids: PAIRED_64, thoughts: "items" },
  anthropic: { ...LENIENT, ids: wordId(64), thoughts: "signed", userFirst: true, images: ANTHROPIC_IMAGES },
  google: { ...LENIENT, ids: wordId(64), thoughts: "signed", userFirst: true, alternates: true, images: GOOGLE_IMAGES },
  mistral: {
    ...LENIENT,
    ids: ALNUM_9,
    userFirst: true,
    alternates: true,
    answersResults: true,
    images: MISTRAL_IMAGES,
  },
  own: { ...LENIENT, ids: wordId(Number.POSITIVE_INFINITY, /^[^\0]+$/), thoughts: "all", plainNames: false },
  unknown: {
    ids: ALNUM_9,
    thoughts: "none",
    userFirst: true,
    alternates: true,
    answersResults: true,
    plainNames: true,
    images: STRICTEST_IMAGES,
  },
};

const APIS: Readonly<Record<string, Family>> = {
  "openai-completions": "openai-completions",
  "openai-responses": "openai-responses",
  "azure-openai-responses": "openai-responses",
  "openai-codex-responses": "openai-responses",
  "anthropic-messages": "anthropic",
  "bedrock-converse-stream": "anthropic",
  "google-generative-ai": "google",
  "google-vertex": "google",
  "mistral-conversations": "mistral",
  rehearsal: "own",
  scripted: "own",
};

/** Their servers check order and ids as Mistral does, also behind other people's OpenAI-compatible addresses. */
const MISTRAL_MODELS = /(?:mi[ns]tral|mixtral|codestral|devstral|magistral|pixtral|voxtral)/i;

export function familyOf({ api, model }: Target): Family {
  const family = api !== null && Object.hasOwn(APIS, api) ? APIS[api]! : "unknown";
  return family === "openai-completions" && MISTRAL_MODELS.test(model) ? "mistral" : family;
}

const NO_PICTURES: ReadonlySet<string> = new Set();

/** Behind somebody else's address: pictures of results would become a user's message right behind them. */
const MISTRAL_ELSEWHERE: Rules = { ...RULES.mistral, images: { ...MISTRAL_IMAGES, inResults: false } };

export function rulesOf(target: Target): Rules {
  const family = familyOf(target);
  const rules = family === "mistral" && target.api === "openai-completions" ? MISTRAL_ELSEWHERE : RULES[family];
  return target.pictures === false ? { ...rules, images: { ...rules.images, types: NO_PICTURES } } : rules;
}
