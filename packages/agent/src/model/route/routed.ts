/**
 * Several models and keys as one model: the first of them gives it its name; who answers is decided at each question.
 * Invariant: whoever asks it directly gets one answer, of the first that has one.
 */
import type { World } from "@holdfast/base";
import type { Model, ModelAnswer } from "../../types.ts";
import { failedAnswer, splitName } from "../answers.ts";
import type { Rests } from "./rests.ts";
import { type Candidate, routeOf, type Routes } from "./route.ts";

/** `candidates`: in the order in which they are to be asked, not empty. */
export function routedModel(
  candidates: readonly Candidate[],
  { rests, world }: { readonly rests: Rests; readonly world: Pick<World, "nowMs"> },
): Model {
  const first = candidates[0]?.asks;
  if (first === undefined) throw new TypeError("there is no model to ask");
  const routes: Routes = { candidates, rests, world, sticky: new Map() };
  return {
    name: first.name,
    ...(first.api !== undefined && { api: first.api }),
    async contextWindow() {
      const windows = candidates.map(({ asks }) => asks.contextWindow?.() ?? Number.POSITIVE_INFINITY);
      return Math.min(...(await Promise.all(windows)));
    },
    route: (sessionId) => routeOf(sessionId, routes),
    async ask(request, options) {
      const route = routeOf(request.sessionId, routes);
      let last: ModelAnswer | undefined;
      for (;;) {
        const choice = route.next();
        if (!("asks" in choice))
          return last ?? failedAnswer({ ...splitName(first.name), api: first.api ?? "none" }, choice);
        const answer = await choice.asks.ask(request, options);
        last = answer;
        if (answer.stop === "aborted") route.left();
        else if (answer.failure === null) route.answered();
        else route.failed(answer.failure);
        if (answer.failure === null) return answer;
      }
    },
  };
}
