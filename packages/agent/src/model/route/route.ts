/**
 * One question over several models and keys: who is asked first, and who after a failure.
 *
 * Invariants: nobody is asked twice for one question; a conversation stays with the key that answered it last, for its cache's
 * sake; the first model is asked first again as soon as it may be.
 */
import type { World } from "@holdfast/base";
import type { Model, ModelFailure, Route } from "../../types.ts";
import { modelFailure } from "../answers.ts";
import { RULES } from "./policy.ts";
import type { Asked, Rests, Standing } from "./rests.ts";

/** A model with one of its provider's keys. */
export interface Candidate extends Asked {
  readonly asks: Model;
}

export interface Routes {
  /** In the order in which they are to be asked: the models in order, and of each the keys in order. Not empty. */
  readonly candidates: readonly Candidate[];
  readonly rests: Rests;
  readonly world: Pick<World, "nowMs">;
  /** Which key answered a conversation last; the oldest are forgotten. */
  readonly sticky: Map<string, string>;
}

const STICKY_MAX = 10_000;

export function routeOf(sessionId: string, routes: Routes): Route {
  const { candidates, rests, world, sticky } = routes;
  const asked = new Set<Candidate>();
  const failures: ModelFailure[] = [];
  const current: { candidate: Candidate | null } = { candidate: null };
  /** Models that are not asked again with another key, and whether nobody is. */
  const past = { models: new Set<string>(), over: false };
  const stands = (candidate: Candidate): Standing => rests.standing(candidate);
  const open = (): readonly Candidate[] =>
    past.over ? [] : candidates.filter((one) => !asked.has(one) && !past.models.has(nameOf(one)));
  return {
    next() {
      const left = byKey(open(), sticky.get(sessionId));
      const found =
        left.find((one) => stands(one).kind === "free") ??
        left.find((one) => stands(one).kind === "tired") ??
        (asked.size === 0 ? left.find((one) => mayProbe(stands(one))) : undefined);
      if (found === undefined) return failures.at(-1) ?? allRest(left.map(stands), candidates, world.nowMs());
      asked.add(found);
      current.candidate = found;
      rests.asks(found);
      return found;
    },
    failed(failure) {
      const candidate = taken(current);
      failures.push(failure);
      rests.failed(candidate, failure);
      const { next } = RULES[failure.code];
      if (next === "model") past.models.add(nameOf(candidate));
      if (next === "nobody") past.over = true;
      if (sticky.get(sessionId) === candidate.credential) sticky.delete(sessionId);
    },
    answered() {
      const candidate = taken(current);
      rests.answered(candidate);
      sticky.delete(sessionId);
      sticky.set(sessionId, candidate.credential);
      if (sticky.size > STICKY_MAX) sticky.delete(sticky.keys().next().value!);
    },
    left: () => rests.left(taken(current)),
  };
}

function taken({ candidate }: { readonly candidate: Candidate | null }): Candidate {
  if (candidate === null) throw new TypeError("nobody was asked yet");
  return candidate;
}

function nameOf({ provider, model }: Candidate): string {
  return `${provider}/${model}`;
}

function mayProbe(standing: Standing): boolean {
  return standing.kind === "rests" && standing.probe;
}

/** The models stay in their order; of each the key that answered last comes first. */
function byKey(candidates: readonly Candidate[], last: string | undefined): readonly Candidate[] {
  const models = [...new Set(candidates.map(nameOf))];
  return models.flatMap((model) => {
    const own = candidates.filter((one) => nameOf(one) === model);
    return own.toSorted((one, other) => Number(other.credential === last) - Number(one.credential === last));
  });
}

/** Nobody may be asked: the failure that says so, and when somebody may be. */
function allRest(standings: readonly Standing[], candidates: readonly Candidate[], nowMs: number): ModelFailure {
  const resting = standings.flatMap((one) => (one.kind === "rests" ? [one.rest] : []));
  const soonest = resting.toSorted((one, other) => one.untilMs - other.untilMs)[0];
  if (soonest === undefined) return modelFailure("not_set_up", "There is no model that could be asked.");
  const seconds = Math.max(1, Math.ceil((soonest.untilMs - nowMs) / 1000));
  const names = [...new Set(candidates.map(nameOf))].join(", ");
  const message = `${names}: refused lately (${soonest.code}), not asked again for ${seconds} s.`;
  return modelFailure(soonest.code, message, { retryAfterMs: soonest.untilMs - nowMs });
}
