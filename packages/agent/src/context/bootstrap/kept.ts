/**
 * Bootstraps that conversations were given, by their hash, so that the same bytes can be given again.
 * Invariant: nothing depends on one being there: without it a turn is given what the files say now.
 */
import type { Session } from "@holdfast/sessions";
import type { Bootstrap } from "./compose.ts";

/** Whose it is. */
export type Owner = Pick<Session, "id" | "file">;

export interface KeptBootstraps {
  get(owner: Owner, hash: string): Promise<Bootstrap | undefined>;
  put(owner: Owner, bootstrap: Bootstrap): Promise<void>;
}

export const notKept: KeptBootstraps = { get: async () => undefined, put: async () => {} };

const KEPT_MAX = 64;

/** For as long as this process lives; the longest unused one goes first. Conversations with the same bytes share them. */
export function keptInMemory(max = KEPT_MAX): KeptBootstraps {
  const kept = new Map<string, Bootstrap>();
  const use = (bootstrap: Bootstrap): void => {
    kept.delete(bootstrap.hash);
    kept.set(bootstrap.hash, bootstrap);
    for (const hash of kept.keys()) {
      if (kept.size <= max) return;
      kept.delete(hash);
    }
  };
  return {
    async get(_owner, hash) {
      const found = kept.get(hash);
      if (found !== undefined) use(found);
      return found;
    },
    async put(_owner, bootstrap) {
      use(bootstrap);
    },
  };
}
