/**
 * The home directory in the hands of one gateway.
 *
 * Invariant: the kernel lock on `home.lock` decides who that is, never a pid: two containers may both be process 1.
 * The lock dies with its holder, so a note left by a killed gateway means nothing but that it was there.
 */
import { hostname } from "node:os";
import { join } from "node:path";
import {
  errnoOf,
  type Identity,
  identityOf,
  isObject,
  type KernelLock,
  livenessOf,
  makePrivateDirectory,
  messageOf,
  parseIdentity,
  readLockNote,
  readText,
  tryFileLock,
  tryParse,
  type World,
  writeWhole,
} from "@holdfast/base";
import { CREDENTIALS_FILE } from "./config/credentials.ts";
import { GatewayError } from "./errors.ts";
import type { LaneStore } from "./lanes.ts";

/** How often and how long apart the lock is asked for: another program may hold it for a moment to see whether it is free. */
const TRIES = 5;
const TRY_AGAIN_MS = 60;

export interface Home {
  readonly path: string;
  /** Random, made once; tells homes apart in claims and intents. */
  readonly id: string;
  readonly identity: Identity;
  /** Whoever held the home before and did not say goodbye, or null. */
  readonly previous: Identity | null;
  /** Says where this gateway answers, for people and for `holdfast send`. */
  announce(address: string): void;
  /** False once `home.lock` was removed or replaced: another gateway may then be here. Cheap. */
  isOurs(): boolean;
  release(): void;
}

/** A gateway that runs now, as its note says. `token` is null when this user may not read it. */
export interface RunningGateway {
  readonly address: string | null;
  readonly token: string | null;
  readonly pid: number;
  readonly host: string;
}

const UNUSABLE: Readonly<Record<string, string>> = {
  EEXIST: "it is a file, not a directory; move it away or choose another --home",
  ENOTDIR: "it, or a part of its path, is a file; move that away or choose another --home",
  EROFS: "the disk is read-only; choose another --home",
  ENOENT: "it cannot be made there, because the disk is read-only or the path leads nowhere; choose another --home",
  EACCES: "permission denied; give this user the right to write there, or choose another --home",
  EPERM: "permission denied; give this user the right to write there, or choose another --home",
  ENOSPC: "the disk is full; make room and start again",
  EDQUOT: "the quota is used up; make room and start again",
  EISDIR: "home.lock or .home.json in it is a directory; move that away",
};

/** The error for a home that cannot be used, with what would help. */
export function unusable(home: string, error: unknown): GatewayError {
  const why = UNUSABLE[errnoOf(error) ?? ""] ?? messageOf(error);
  return new GatewayError("home_unusable", { home, why }, error);
}

function lockPath(home: string): string {
  return join(home, "home.lock");
}

function busy(home: string): GatewayError {
  const note = readLockNote(lockPath(home));
  const holder = parseIdentity(note);
  const address = isObject(note) && typeof note.address === "string" ? `, at ${note.address}` : "";
  return new GatewayError("home_busy", {
    home,
    pid: holder?.pid ?? "unknown",
    host: holder?.host || hostname(),
    address,
  });
}

async function take(home: string, world: World): Promise<KernelLock> {
  for (let attempt = 1; attempt <= TRIES; attempt++) {
    const lock = tryFileLock(lockPath(home));
    if (lock !== undefined) return lock;
    await world.sleep(TRY_AGAIN_MS);
  }
  throw busy(home);
}

async function homeId(home: string, world: World): Promise<string> {
  const file = join(home, ".home.json");
  const text = await readText(file).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return "";
    throw error;
  });
  const known = tryParse(text);
  if (isObject(known) && typeof known.id === "string") return known.id;
  const id = world.newId("home");
  await writeWhole(world, file, `${JSON.stringify({ id })}\n`);
  return id;
}

function previousOf(home: string): Identity | null {
  const note = readLockNote(lockPath(home));
  if (!isObject(note) || note.released === true) return null;
  return parseIdentity(note) ?? null;
}

/** Takes the home, making it (0700) at first use. Throws `home_busy` or `home_unusable`; nothing is held then. */
export async function openHome(path: string, world: World): Promise<Home> {
  let lock: KernelLock | undefined;
  try {
    await makePrivateDirectory(path);
    lock = await take(path, world);
    const id = await homeId(path, world);
    const previous = previousOf(path);
    return held(path, id, lock, previous, world);
  } catch (error) {
    lock?.release();
    throw error instanceof GatewayError ? error : unusable(path, error);
  }
}

function held(path: string, id: string, lock: KernelLock, previous: Identity | null, world: World): Home {
  const identity = identityOf(world.newId("holder"));
  lock.note(identity);
  return {
    path,
    id,
    identity,
    previous,
    announce: (address) => lock.note({ ...identity, address }),
    isOurs: () => lock.stillHeld(),
    release: () => {
      lock.note({ ...identity, released: true });
      lock.release();
    },
  };
}

/** The lanes as long as the home is ours: claims and new items are refused with `home_lost` from then on. */
export function whileOurs(store: LaneStore, home: Pick<Home, "path" | "isOurs">): LaneStore {
  const check = (): void => {
    if (!home.isOurs()) throw new GatewayError("home_lost", { home: home.path });
  };
  return {
    ...store,
    async enqueue(item, nowMs, also) {
      check();
      return store.enqueue(item, nowMs, also);
    },
    async claim(request) {
      check();
      return store.claim(request);
    },
  };
}

/** Whether a claim's holder is another process that is proven to live: a gateway whose home.lock was removed. */
export function runsElsewhere(holder: string): boolean {
  const identity = parseIdentity(tryParse(holder));
  return identity !== undefined && identity.pid !== process.pid && livenessOf(identity) === "alive";
}

/** The gateway that runs on this home, or null when none does. Holds the lock for a moment to find out. */
export async function findGateway(home: string): Promise<RunningGateway | null> {
  let lock: KernelLock | undefined;
  try {
    lock = tryFileLock(lockPath(home));
  } catch (error) {
    if (errnoOf(error) === "ENOENT" || errnoOf(error) === "ENOTDIR") return null;
    throw unusable(home, error);
  }
  if (lock !== undefined) {
    lock.release();
    return null;
  }
  const note = readLockNote(lockPath(home));
  const holder = parseIdentity(note);
  const address = isObject(note) && typeof note.address === "string" ? note.address : null;
  const secrets = tryParse(await readText(join(home, CREDENTIALS_FILE)).catch(() => ""));
  const token = isObject(secrets) && typeof secrets.gatewayToken === "string" ? secrets.gatewayToken : null;
  return { address, token, pid: holder?.pid ?? 0, host: holder?.host ?? "" };
}
