/** An archived log, to be looked at. Invariant: it stays where it is, packed or not. */
import { type ByteSource, openSource } from "../reading/source.ts";
import type { LogRef, SessionStore } from "../store.ts";

/** Undefined: it is not there. Dispose of it. */
export async function archivedSource(
  store: SessionStore,
  log: LogRef,
): Promise<({ readonly source: ByteSource } & AsyncDisposable) | undefined> {
  const reading = await store.read(log);
  const path = store.pathOf(log);
  if (reading !== undefined || path === null) return reading;
  const source = await openSource(path);
  return { source, [Symbol.asyncDispose]: () => source[Symbol.asyncDispose]() };
}
