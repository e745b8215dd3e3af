/** The acts on conversations of one agent, done by the gateway that works on the home. */
import type { ConversationActs } from "@holdfast/gateway/wire";
import type { GatewayClient } from "./client.ts";

export function remoteActs(client: GatewayClient, agentId: string): ConversationActs {
  return {
    branch: (key, entryId) => client.act(key, "branch", { entryId }),
    fork: (key, to, point) => client.act(key, "fork", { to, ...point }),
    label: (key, entryId, label) => client.act(key, "label", { entryId, label }),
    rename: (key, name) => client.act(key, "rename", { name }),
    reset: (key) => client.act(key, "reset"),
    archive: (key) => client.act(key, "archive"),
    clear: (key) => client.act(key, "clear"),
    purge: (key, dryRun) => client.act(key, "purge", { dryRun }),
    restore: (name, as) => client.restore({ agentId, name, ...(as === undefined ? {} : { as }) }),
  };
}
