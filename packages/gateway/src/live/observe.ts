/** What the agent observes, as events for clients. Entries end with the leaf: it is the last line of the file. */
import { light } from "./light.ts";
import type { Observe } from "@holdfast/agent";
import { assertNever } from "@holdfast/base";
import type { Hub } from "./hub.ts";

export function observer(hub: Hub): Observe {
  return (sessionKey, observation) => {
    switch (observation.kind) {
      case "turn": {
        const { state, itemId, outcome } = observation;
        return hub.publish(sessionKey, { type: "turn", state, itemId, outcome: outcome ?? null });
      }
      case "delta":
        return hub.publish(sessionKey, { type: "delta", ...pick(observation), durable: false });
      case "withdrawn": {
        const { itemId, answerId } = observation;
        return hub.publish(sessionKey, { type: "withdrawn", itemId, answerId });
      }
      case "entries": {
        const { entries, durable } = observation;
        return hub.publish(sessionKey, {
          type: "entries",
          entries: entries.map(light),
          durable,
          leaf: entries.at(-1)?.id ?? null,
        });
      }
      case "action":
        return;
      default:
        return assertNever(observation);
    }
  };
}

function pick({ itemId, answerId, delta }: Extract<Parameters<Observe>[1], { kind: "delta" }>) {
  return { itemId, answerId, delta };
}
