/**
 * The `session` section of an `openclaw.json` as our `sessions`, item by item. Pure.
 * Invariant: every setting of that section is in exactly one list, carried or left; the others are named by section, never
 * by value: they hold secrets.
 */
import { isObject } from "@holdfast/base";
import JSON5 from "json5";
import { checkText } from "./check.ts";
import { resetsOf } from "./from-openclaw-reset.ts";

/** `to`: the key of `holdfast.json`. */
export interface CarriedSetting {
  readonly from: string;
  readonly to: string;
  readonly value: unknown;
}
export interface LeftSetting {
  readonly from: string;
  readonly why: string;
}
export interface OpenClawSettings {
  readonly carried: readonly CarriedSetting[];
  readonly left: readonly LeftSetting[];
  /** What differs where nothing was set. */
  readonly notes: readonly string[];
  /** Content for a `holdfast.json`; null: nothing to carry. */
  readonly proposal: string | null;
}

type Values = Readonly<Record<string, unknown>>;

/** `text`: the whole file. One that cannot be read is one item that was left. */
export function settingsFromOpenClaw(text: string): OpenClawSettings {
  const config = parse(text);
  if (config === undefined) {
    return { carried: [], left: [{ from: "openclaw.json", why: "it is not JSON5" }], notes: [], proposal: null };
  }
  const session = isObject(config.session) ? config.session : {};
  const found = collect(session);
  const { good, bad } = usable(found.carried);
  const others = Object.keys(config).filter((name) => name !== "session" && !name.startsWith("$"));
  const left = [...found.left, ...bad, ...others.map((from) => ({ from, why: "only `session` is carried over" }))];
  return { carried: good, left, notes: notesOn(session), proposal: good.length === 0 ? null : textOf(good) };
}

function parse(text: string): Values | undefined {
  try {
    const value: unknown = JSON5.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

interface Found {
  readonly carried: CarriedSetting[];
  readonly left: LeftSetting[];
}

/** Same name and meaning on both sides. */
const SAME: Readonly<Record<string, string>> = { dmScope: "dmScope" };
const WRITE_LOCK: Readonly<Record<string, string>> = {
  acquireTimeoutMs: "timeoutMs",
  staleMs: "staleMs",
  maxHoldMs: "maxHoldMs",
};
const NO_PLACE = "there is no such setting here";
const LEFT_BECAUSE: Readonly<Record<string, string>> = {
  store: "where conversations are kept is the home's own affair",
  mainKey: "the main conversation is always called main",
  scope: "conversations are always told apart by who writes",
  sendPolicy: "who may write is decided by the channels and by agents.defaults.tools",
};

function collect(session: Values): Found {
  const found: Found = { carried: [], left: [] };
  const resets = resetsOf(session);
  found.carried.push(...resets);
  for (const [name, value] of Object.entries(session)) {
    const from = `session.${name}`;
    if (["reset", "resetByType", "resetByChannel", "idleMinutes"].includes(name)) continue;
    if (SAME[name] !== undefined) found.carried.push({ from, to: `sessions.${SAME[name]}`, value });
    else if (name === "identityLinks" && isObject(value)) links(value, found);
    else if (name === "maintenance" && isObject(value)) maintenance(value, found);
    else if (name === "writeLock" && isObject(value))
      named(value, { from, to: "sessions.writeLock", names: WRITE_LOCK }, found);
    else found.left.push({ from, why: LEFT_BECAUSE[name] ?? NO_PLACE });
  }
  return found;
}

function named(
  values: Values,
  { from, to, names }: { readonly from: string; readonly to: string; readonly names: Readonly<Record<string, string>> },
  found: Found,
): void {
  for (const [name, value] of Object.entries(values)) {
    const ours = names[name];
    if (ours === undefined) found.left.push({ from: `${from}.${name}`, why: NO_PLACE });
    else found.carried.push({ from: `${from}.${name}`, to: `${to}.${ours}`, value });
  }
}

/** A bare id would be the same person on every channel. */
function links(value: Values, found: Found): void {
  const kept: Record<string, readonly string[]> = {};
  for (const [person, ids] of Object.entries(value)) {
    const from = `session.identityLinks.${person}`;
    const all = Array.isArray(ids) ? ids.map(String) : [];
    const whole = all.filter((id) => id.includes(":"));
    if (whole.length > 0) kept[person] = whole;
    if (whole.length < all.length)
      found.left.push({ from, why: "an id without its channel would fit on every channel" });
  }
  if (Object.keys(kept).length > 0)
    found.carried.push({ from: "session.identityLinks", to: "sessions.identityLinks", value: kept });
}

const MAINTENANCE_LEFT: Readonly<Record<string, string>> = {
  maxEntries: "rows of people are never removed for their number",
  resetArchiveRetention: "archives of people are never destroyed by a setting",
  coldStorage: "archives are packed by themselves",
  rotateBytes: "the index folds by itself",
  highWaterBytes: "what is put away goes until the total is below maxSize",
};

function maintenance(value: Values, found: Found): void {
  for (const [name, given] of Object.entries(value)) {
    const from = `session.maintenance.${name}`;
    if (name === "pruneAfter" || name === "pruneDays") {
      const age = typeof given === "number" ? `${given}d` : given;
      found.carried.push({ from, to: "sessions.retention.maxAge", value: age });
    } else if (name === "maxDiskBytes") found.carried.push({ from, to: "sessions.retention.maxSize", value: given });
    else if (name === "mode" && given === "warn")
      found.carried.push({ from, to: "sessions.retention.mode", value: "report" });
    else if (name === "mode") found.carried.push({ from, to: "sessions.retention.mode", value: "archive" });
    else found.left.push({ from, why: MAINTENANCE_LEFT[name] ?? NO_PLACE });
  }
}

/** Values that our schema refuses are left. */
function usable(items: readonly CarriedSetting[]): { readonly good: CarriedSetting[]; readonly bad: LeftSetting[] } {
  const good: CarriedSetting[] = [];
  const bad: LeftSetting[] = [];
  for (const item of items) {
    const checked = checkText(textOf([item]), {});
    if (checked.ok) good.push(item);
    else bad.push({ from: item.from, why: checked.problems[0]?.message ?? "its value cannot be used here" });
  }
  return { good, bad };
}

function textOf(items: readonly CarriedSetting[]): string {
  const root: Record<string, unknown> = {};
  for (const { to, value } of items) {
    const path = to.split(".");
    const last = path.pop()!;
    let at = root;
    for (const name of path) {
      const next = at[name];
      const inner: Record<string, unknown> = isObject(next) ? next : {};
      at[name] = inner;
      at = inner;
    }
    at[last] = value;
  }
  return `${JSON.stringify(root, null, 2)}\n`;
}

function notesOn(session: Values): string[] {
  const { dmScope, reset, resetByType, idleMinutes } = session;
  const noScope =
    "session.dmScope was not set: OpenClaw put all direct messages into the main conversation; here only the owner's go there (sessions.dmScope: owner-main)";
  const noReset =
    "session.reset was not set: OpenClaw before 2026.7 began anew every day at 4; here a conversation goes on (sessions.reset.mode: none)";
  return [
    ...(dmScope === undefined ? [noScope] : []),
    ...(reset === undefined && resetByType === undefined && idleMinutes === undefined ? [noReset] : []),
  ];
}
