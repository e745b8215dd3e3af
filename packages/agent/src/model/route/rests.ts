/**
 * Which keys rest, from which models, and until when. Kept across restarts by whoever gives it a place.
 *
 * Invariants: a key is known by a digest of itself, so another key in its place does not inherit its rest and nothing secret is
 * kept; while a rest has just ended only one question tries it out.
 */
import { createHash } from "node:crypto";
import { isObject, type JsonObject, type World } from "@holdfast/base";
import type { ModelFailure } from "../../types.ts";
import { RULES, type Rest, restAfter } from "./policy.ts";

export interface RestPlace {
  /** What was kept; null when nothing was, or when it cannot be read. */
  readonly kept: Readonly<Record<string, unknown>> | null;
  /** Keeps it, some time. Must not throw. */
  keep(rests: JsonObject): void;
}

export interface Asked {
  readonly provider: string;
  readonly model: string;
  readonly credential: string;
}

export type Standing =
  | { readonly kind: "free" }
  /** Asked after those that are free. */
  | { readonly kind: "tired"; readonly untilMs: number }
  /** Not asked. `probe`: but it may be tried out when nobody else is left. */
  | { readonly kind: "rests"; readonly rest: Rest; readonly probe: boolean };

/** Between two questions that try out a key which is known to be refused. */
const PROBE_MS = 30_000;

export class Rests {
  readonly #place: RestPlace;
  readonly #rests: Map<string, Rest>;
  readonly #world: Pick<World, "nowMs">;
  /** Who is being tried out. */
  readonly #trying = new Set<string>();

  constructor(world: Pick<World, "nowMs">, place: RestPlace = { kept: null, keep() {} }) {
    this.#world = world;
    this.#place = place;
    this.#rests = new Map(
      Object.entries(place.kept ?? {}).flatMap(([name, rest]) => (isRest(rest) ? [[name, rest]] : [])),
    );
  }

  standing(asked: Asked): Standing {
    const nowMs = this.#world.nowMs();
    const found = namesOf(asked).flatMap((name) => {
      const rest = this.#rests.get(name);
      return rest === undefined ? [] : [{ name, rest }];
    });
    const worst = found.toSorted((one, other) => other.rest.untilMs - one.rest.untilMs)[0];
    if (worst === undefined) return { kind: "free" };
    const { name, rest } = worst;
    // A clock that was set back must not make a rest longer than it was meant.
    const isOver = rest.untilMs <= nowMs || rest.atMs > nowMs;
    if (isOver) return this.#trying.has(name) && rest.hard ? { kind: "tired", untilMs: nowMs } : { kind: "free" };
    if (!rest.hard) return { kind: "tired", untilMs: rest.untilMs };
    // Who says when to come back means it.
    const mayTry = rest.code !== "rate_limited";
    return { kind: "rests", rest, probe: mayTry && nowMs - rest.atMs >= PROBE_MS && !this.#trying.has(name) };
  }

  /** A question begins. */
  asks(asked: Asked): void {
    for (const name of namesOf(asked)) if (this.#rests.has(name)) this.#trying.add(name);
  }

  failed(asked: Asked, failure: ModelFailure): void {
    this.#ended(asked);
    const { rests } = RULES[failure.code];
    if (rests === "nothing") return;
    const name = rests === "credential" ? namesOf(asked)[0] : namesOf(asked)[1];
    const rest = restAfter(failure, this.#rests.get(name), this.#world.nowMs());
    if (rest === undefined) return;
    this.#rests.set(name, rest);
    this.#keep();
  }

  answered(asked: Asked): void {
    this.#ended(asked);
    const gone = namesOf(asked).filter((name) => this.#rests.delete(name));
    if (gone.length > 0) this.#keep();
  }

  /** It was not asked to its end: nothing is learned. */
  left(asked: Asked): void {
    this.#ended(asked);
  }

  #ended(asked: Asked): void {
    for (const name of namesOf(asked)) this.#trying.delete(name);
  }

  #keep(): void {
    this.#place.keep(Object.fromEntries([...this.#rests].map(([name, rest]) => [name, { ...rest }])));
  }
}

/** Of the key, and of the key with this model. */
function namesOf({ provider, model, credential }: Asked): readonly [string, string] {
  const key = `${provider}:${createHash("sha256").update(credential).digest("hex").slice(0, 16)}`;
  return [key, `${key}/${model}`];
}

function isRest(value: unknown): value is Rest {
  if (!isObject(value)) return false;
  const numbers = [value.failures, value.untilMs, value.atMs].every((one) => Number.isSafeInteger(one));
  return (
    numbers && typeof value.hard === "boolean" && typeof value.code === "string" && Object.hasOwn(RULES, value.code)
  );
}
