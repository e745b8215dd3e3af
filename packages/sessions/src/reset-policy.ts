/**
 * Which reset policy applies to a conversation, and from which setting each part of it comes. Pure.
 *
 * Each field comes from the most specific place that names it: the channel, the chat type (a thread: its own, then that of
 * the chat it belongs to), `sessions.reset`, the default.
 * Invariant: what is returned can be computed with; a zone, hour or time that cannot is an error here, not at four in the morning.
 */
import { durationMs } from "@holdfast/base";
import { SessionError } from "./errors.ts";
import { parseSessionKey } from "./key.ts";
import type { SessionRow } from "./types.ts";
import { isTimezone } from "./wall-clock.ts";

const MODES = ["none", "daily", "idle", "both"] as const;
export type ResetMode = (typeof MODES)[number];

/** As configured (docs/config.md). A field that is left out comes from the next place. */
export interface ResetFields {
  readonly mode?: ResetMode | undefined;
  /** 0 to 23, on the clocks of `timezone`. */
  readonly atHour?: number | undefined;
  /** `"90m"` or milliseconds; null or 0: never. */
  readonly idle?: string | number | null | undefined;
  /** IANA name; null: the machine's. */
  readonly timezone?: string | null | undefined;
}
/** The part of `sessions` in `holdfast.json` that this package understands. */
export interface ResetSettings {
  readonly reset?: ResetFields;
  /** `dm` (or `direct`), `group` (covers channels), `thread`. */
  readonly resetByType?: Readonly<Record<string, ResetFields | undefined>>;
  readonly resetByChannel?: Readonly<Record<string, ResetFields | undefined>>;
}

export interface ResetPolicy {
  readonly mode: ResetMode;
  readonly atHour: number;
  readonly idleMs: number | null;
  readonly timezone: string;
  /** The setting each part came from, for example `resetByChannel.telegram`, or `default`. */
  readonly from: { readonly [field in keyof Required<ResetFields>]: string };
}

type Layer = readonly [name: string, fields: ResetFields];
const DEFAULTS: Layer = ["default", { mode: "none", atHour: 4, idle: null, timezone: null }];

/** The policy for this key; the row helps where the key does not say (the main session). Throws `bad_reset`. */
export function resetPolicy(
  settings: ResetSettings,
  session: { readonly key: string; readonly row: SessionRow | undefined },
  machineTimezone: string,
): ResetPolicy {
  const layers = layersFor(settings, session.key, session.row);
  const pick = <Field extends keyof ResetFields>(field: Field): readonly [string, ResetFields[Field]] => {
    const [name, fields] = layers.find(([, each]) => each[field] !== undefined) ?? DEFAULTS;
    return [name, fields[field]];
  };
  const [mode, atHour, idle, timezone] = [pick("mode"), pick("atHour"), pick("idle"), pick("timezone")];
  return {
    mode: readMode(...mode),
    atHour: readHour(...atHour),
    idleMs: readIdle(...idle),
    timezone: readTimezone(timezone[0], timezone[1] ?? machineTimezone),
    from: { mode: mode[0], atHour: atHour[0], idle: idle[0], timezone: timezone[0] },
  };
}

/** Throws `bad_reset` for the first setting that cannot be used; for the time when a configuration is loaded. */
export function checkResetSettings(settings: ResetSettings): void {
  for (const [name, { mode, atHour, idle, timezone }] of allLayers(settings)) {
    if (mode !== undefined) readMode(name, mode);
    if (atHour !== undefined) readHour(name, atHour);
    readIdle(name, idle);
    if (typeof timezone === "string") readTimezone(name, timezone);
  }
}

function allLayers({ reset, resetByType, resetByChannel }: ResetSettings): readonly Layer[] {
  const named = (group: string, by: ResetSettings["resetByType"]): readonly Layer[] =>
    Object.entries(by ?? {}).flatMap(([name, fields]) => (fields === undefined ? [] : [[`${group}.${name}`, fields]]));
  return [
    ...named("resetByChannel", resetByChannel),
    ...named("resetByType", resetByType),
    ...(reset === undefined ? [] : ([["reset", reset]] as const)),
  ];
}

function layersFor(settings: ResetSettings, key: string, row: SessionRow | undefined): readonly Layer[] {
  const { place } = parseSessionKey(key);
  const chatType = place.kind === "chat" ? place.chatType : row?.chatType;
  const channel = place.kind === "chat" ? place.channel : row?.channel;
  const types = chatType === "group" || chatType === "channel" ? ["group"] : ["dm", "direct"];
  const isThread = chatType === "thread" || (place.kind === "chat" && place.thread !== null);
  const names = [
    ...(channel === undefined ? [] : [`resetByChannel.${channel}`]),
    ...(isThread ? ["thread", ...types] : types).map((type) => `resetByType.${type}`),
    "reset",
  ];
  const all = new Map(allLayers(settings));
  return names.flatMap((name) => {
    const fields = all.get(name);
    return fields === undefined ? [] : [[name, fields] as const];
  });
}

function readMode(where: string, mode: string | undefined): ResetMode {
  const known = MODES.find((each) => each === mode);
  if (known === undefined) throw bad(where, "mode", mode, `write one of ${MODES.join(", ")}`);
  return known;
}

function readHour(where: string, hour: number | undefined): number {
  if (hour === undefined || !Number.isInteger(hour) || hour < 0 || hour > 23) {
    throw bad(where, "atHour", hour, "write a whole hour from 0 to 23");
  }
  return hour;
}

function readIdle(where: string, idle: string | number | null | undefined): number | null {
  try {
    return durationMs(idle ?? 0) || null;
  } catch {
    throw bad(where, "idle", idle, 'write a time such as "90m"');
  }
}

function readTimezone(where: string, name: string): string {
  if (!isTimezone(name)) throw bad(where, "timezone", name, 'write a name such as "Europe/Berlin"');
  return name;
}

function bad(where: string, field: string, value: unknown, advice: string): SessionError {
  return new SessionError("bad_reset", { setting: `sessions.${where}.${field}`, value: String(value), advice });
}
