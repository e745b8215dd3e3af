/**
 * OpenClaw's reset policies as ours. Pure.
 *
 * There: a type takes each field that it leaves out from `reset`, a channel takes none; the mode is `daily` unless said
 * otherwise; idle minutes count in either mode, and 0 means never.
 * Invariant: what is returned begins anew at the same moments as there, in the machine's time zone.
 */
import { isObject } from "@holdfast/base";
import type { CarriedSetting } from "./from-openclaw.ts";

type Values = Readonly<Record<string, unknown>>;

export function resetsOf(session: Values): readonly CarriedSetting[] {
  const { reset, resetByType, resetByChannel, idleMinutes } = session;
  const legacy: Values = idleMinutes === undefined ? {} : { idleMinutes };
  const base: Values = { ...legacy, ...(isObject(reset) ? reset : {}) };
  const onlyIdle = reset === undefined && resetByType === undefined && idleMinutes !== undefined;
  const found: CarriedSetting[] = [];
  if (onlyIdle) {
    found.push({ from: "session.idleMinutes", to: "sessions.reset", value: policyOf({ mode: "idle", ...legacy }) });
  } else if (reset !== undefined || idleMinutes !== undefined) {
    const from = reset === undefined ? "session.idleMinutes" : "session.reset";
    found.push({ from, to: "sessions.reset", value: policyOf(base) });
  }
  for (const [type, fields] of Object.entries(isObject(resetByType) ? resetByType : {})) {
    const to = `sessions.resetByType.${type === "direct" ? "dm" : type}`;
    const value = policyOf({ ...base, ...(isObject(fields) ? fields : {}) });
    found.push({ from: `session.resetByType.${type}`, to, value });
  }
  for (const [channel, fields] of Object.entries(isObject(resetByChannel) ? resetByChannel : {})) {
    const value = policyOf(isObject(fields) ? fields : {});
    found.push({ from: `session.resetByChannel.${channel}`, to: `sessions.resetByChannel.${channel}`, value });
  }
  return found;
}

function policyOf({ mode, atHour, idleMinutes }: Values): Values {
  const minutes = typeof idleMinutes === "number" && idleMinutes > 0 ? Math.floor(idleMinutes) : 0;
  const idle = minutes === 0 ? {} : { idle: `${minutes}m` };
  if (mode === "none") return { mode: "none" };
  if (mode === "idle") return minutes === 0 ? { mode: "none" } : { mode: "idle", ...idle };
  const hour = typeof atHour === "number" && Number.isFinite(atHour) ? Math.floor(atHour) : 4;
  return { mode: minutes === 0 ? "daily" : "both", atHour: Math.min(23, Math.max(0, hour)), ...idle };
}
