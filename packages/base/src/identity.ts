/**
 * Who holds something: enough to prove later that the holder is gone, or to admit that nobody can tell.
 * A pid alone proves nothing (it is reused, and containers have pids of their own), so boot, pid namespace and
 * process start time go with it.
 */
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { errnoOf } from "./errors.ts";
import { isObject } from "./json.ts";

/** Written as JSON beside what is held. `start` is in clock ticks since boot (Linux), "" elsewhere. */
export interface Identity {
  readonly pid: number;
  readonly start: string;
  readonly boot: string;
  readonly pidns: string;
  readonly host: string;
  readonly token: string;
}

export type Liveness = "alive" | "dead" | "unknown";

function readOr(path: string, otherwise: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return otherwise;
  }
}

/** Field 22 of /proc/<pid>/stat; the command name may hold spaces and brackets, so count from the last one. */
function startOf(pid: number | "self"): string {
  const stat = readOr(`/proc/${pid}/stat`, "");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

function stateOf(pid: number): string {
  const stat = readOr(`/proc/${pid}/stat`, "");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[0] ?? "";
}

function pidNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid");
  } catch {
    return "";
  }
}

/** The id of this boot; "" where the platform has none. */
export function bootId(): string {
  return readOr("/proc/sys/kernel/random/boot_id", "");
}

/** What stays as it is while this process lives is looked up once: it goes into the note of every lock. */
const own: { identity?: Omit<Identity, "token"> } = {};

/** This process. `token` tells apart holders inside one process. */
export function identityOf(token: string): Identity {
  own.identity ??= {
    pid: process.pid,
    start: startOf("self"),
    boot: bootId(),
    pidns: pidNamespace(),
    host: hostname(),
  };
  return { ...own.identity, token };
}

/** Reads what `identityOf` wrote; undefined when it is not such a record (a pid is a positive 32-bit integer). */
export function parseIdentity(value: unknown): Identity | undefined {
  if (!isObject(value) || typeof value.pid !== "number" || value.pid <= 0 || (value.pid | 0) !== value.pid) {
    return undefined;
  }
  const text = (name: string): string => (typeof value[name] === "string" ? value[name] : "");
  return {
    pid: value.pid,
    start: text("start"),
    boot: text("boot"),
    pidns: text("pidns"),
    host: text("host"),
    token: text("token"),
  };
}

/**
 * `dead` only where it is proven: same boot and pid namespace, and the process gone (or a zombie, or started at another
 * time). Another boot is `unknown` even under the same host name: two machines on one share may be called alike.
 * Where the platform has no boot id, the host name has to do.
 */
export function livenessOf(holder: Identity): Liveness {
  const me = identityOf("");
  const same = (field: "boot" | "pidns" | "host"): boolean => holder[field] === me[field];
  const checkable = same("boot") && same("pidns") && (me.boot !== "" || same("host"));
  return checkable ? processLiveness(holder) : "unknown";
}

function processLiveness(holder: Identity): Liveness {
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    if (errnoOf(error) === "ESRCH") return "dead";
    if (errnoOf(error) !== "EPERM") throw error;
  }
  if (stateOf(holder.pid) === "Z") return "dead";
  const start = startOf(holder.pid);
  return holder.start !== "" && start !== "" && start !== holder.start ? "dead" : "alive";
}
