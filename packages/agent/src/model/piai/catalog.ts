/**
 * What the library's catalogue knows of a model: its window, its prices, what it can see, how its thinking is asked for.
 * Invariant: a model that is not listed is no error; nothing is fetched.
 */
import type * as pi from "@earendil-works/pi-ai";
import { isObject } from "@holdfast/base";

/** The entry of the catalogue `catalog` (providers.ts); undefined where there is none. */
export async function listed(catalog: string | null, model: string): Promise<pi.Model<pi.Api> | undefined> {
  return catalog === null ? undefined : (await modelsIn(catalog)).find(({ id }) => id === model);
}

/** All chat models of a catalogue, in its order. */
export async function modelsIn(catalog: string): Promise<readonly pi.Model<pi.Api>[]> {
  const module: unknown = await import(`@earendil-works/pi-ai/providers/${catalog}.models`);
  const name = `${catalog.toUpperCase().replaceAll("-", "_")}_MODELS`;
  const models = isObject(module) ? module[name] : undefined;
  return isObject(models) ? (Object.values(models) as unknown as readonly pi.Model<pi.Api>[]) : [];
}
