/**
 * What the rules allow, as data: the arrows between packages, the budgets, and every exemption with its reason.
 * Nothing else in scripts/ decides who may import whom.
 */

/** Package → the doors it may import (`sessions` is its index, `sessions/internal` its second door). */
export const ARROWS: Readonly<Record<string, readonly string[]>> = {
  base: [],
  sessions: ["base"],
  agent: ["base", "sessions"],
  gateway: ["base", "sessions", "agent"],
  dashboard: ["gateway/wire"],
  cli: [
    "base",
    "sessions",
    "sessions/internal",
    "sessions/keeping",
    "sessions/listing",
    "agent",
    "agent/internal",
    "gateway",
    "gateway/internal",
    "gateway/wire",
  ],
  sim: [
    "base",
    "sessions",
    "sessions/internal",
    "sessions/keeping",
    "agent",
    "agent/internal",
    "gateway",
    "gateway/internal",
    "gateway/wire",
    "cli",
  ],
};

export const BUDGET = {
  fileLines: { warn: 250, fail: 400 },
  functionLines: { warn: 40, fail: 70 },
  nestingMax: 3,
  classMembersMax: 20,
  contractMethodsMax: 12,
  importsMax: 15,
} as const;

/** Interfaces that others implement: each method is paid for once per driver. */
export const CONTRACT_NAME = /(Store|Channel|Driver)$/;

/** The composition root knows everyone; that is its only job. */
export const MANY_IMPORTS: readonly string[] = ["packages/gateway/src/gateway.ts"];

/** Clocks, chance and timers: only a `World` may have them, so that a run can be replayed from its seed. */
export const BANNED_CALLS: readonly string[] = [
  "Date",
  "Date.now",
  "Math.random",
  "performance.now",
  "process.hrtime",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "crypto.randomUUID",
  "crypto.getRandomValues",
  "randomUUID",
  "randomBytes",
  "randomInt",
];

export interface Exemption {
  readonly path: RegExp;
  readonly reason: string;
}

/** Where BANNED_CALLS may stand. In sessions and agent only drivers are listed, never the core. */
export const CLOCK_ALLOWED: readonly Exemption[] = [
  { path: /^packages\/base\/src\/world\.ts$/, reason: "it is the door" },
  {
    path: /^packages\/sim\/src\/disk\/machine\.ts$/,
    reason: "a turn of the event loop, which takes no simulated time",
  },
  { path: /^packages\/dashboard\/src\//, reason: "runs in the reader's browser, outside any World" },
  { path: /^(scripts|bench)\//, reason: "tools of the repository, not part of the product" },
];

/** Sources without a test of their own name, and where they are tested instead. */
export const TESTED_ELSEWHERE: readonly Exemption[] = [
  { path: /\/(index|internal|types)\.ts$/, reason: "doors and types: nothing to run" },
  { path: /^packages\/dashboard\/src\/.*\.tsx$/, reason: "the browser test loads the built page" },
  { path: /\/conformance\//, reason: "test cases themselves; the stores' tests run them" },
];
