/**
 * What whoever comes next does with what a death left.
 * Invariant: nothing in here knows what was going on when it happened.
 */
import type { RetentionPolicy } from "@holdfast/sessions";
import type { Client } from "./client.ts";
import { cleanup } from "./keeping-acts.ts";

export interface Recovery {
  readonly name: string;
  /** Whether it puts away what was ended, and removes what is left over. */
  readonly tidies: boolean;
  run(client: Client, keys: readonly string[], name: string): Promise<void>;
}

/** Opens every conversation, writes to it, ends in an orderly way. */
export const TALK: Recovery = {
  name: "talk",
  tidies: false,
  async run(client, keys, name) {
    for (const key of keys) {
      await client.open(key);
      await client.append(key, `${name}-${key}`);
    }
    await client.close();
  },
};

/** No limit: nothing is due. */
export const NOTHING_DUE: RetentionPolicy = { maxAgeMs: null, maxBytes: null, backgroundMax: null };

const LONG_MS = 2 * 60 * 60 * 1000;

/** What the background does by itself, now and a long time after; nobody says anything. */
export const TIDY: Recovery = {
  name: "tidy",
  tidies: true,
  async run(client, keys) {
    await cleanup(client, keys, NOTHING_DUE);
    await client.process.world.sleep(LONG_MS);
    await cleanup(client, keys, NOTHING_DUE);
    await client.close();
  },
};
