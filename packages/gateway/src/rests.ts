/**
 * Where the rests of refused keys are kept: `model-rests.json` in the home, so that a restart does not ask at once again.
 * Invariant: losing it loses nothing but patience; it never keeps the gateway from starting or working.
 */
import { join } from "node:path";
import { Rests } from "@holdfast/agent";
import { isObject, type JsonObject, messageOf, readText, tryParse, type World, writeWhole } from "@holdfast/base";
import type { Log } from "./log.ts";

export const RESTS_FILE = "model-rests.json";

export interface KeptRests {
  readonly rests: Rests;
  /** Resolves when what was last kept is on the disk, or was given up. */
  written(): Promise<void>;
}

export async function keptRests(
  home: string,
  { world, log }: { readonly world: World; readonly log: Log },
): Promise<KeptRests> {
  const file = join(home, RESTS_FILE);
  const found = await readText(file).then(tryParse, () => null);
  const state: { waiting: JsonObject | null; writing: Promise<void> | undefined } = {
    waiting: null,
    writing: undefined,
  };
  const write = async (): Promise<void> => {
    while (state.waiting !== null) {
      const rests = state.waiting;
      state.waiting = null;
      await writeWhole(world, file, `${JSON.stringify(rests, null, 2)}\n`).catch((error: unknown) =>
        log.warn("which keys rest could not be kept", { why: messageOf(error) }),
      );
    }
    state.writing = undefined;
  };
  const keep = (rests: JsonObject): void => {
    state.waiting = rests;
    state.writing ??= write();
  };
  return {
    rests: new Rests(world, { kept: isObject(found) ? found : null, keep }),
    written: async () => state.writing,
  };
}
