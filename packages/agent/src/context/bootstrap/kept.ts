/**
 * Bootstraps that conversations were given, by their hash, so that the same bytes can be given again.
 * Invariant: nothing depends on one being there: without it a turn is given what the files say now. One that is given back has
 * the hash that was asked for.
 */
import type { Session } from "@holdfast/sessions";
import { readRequests } from "../report/request-log.ts";
import { FIXED_SECTIONS } from "../system-prompt.ts";
import { type Bootstrap, hashOf } from "./compose.ts";

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

/** How far back one looks for the request that had it. */
const REQUESTS_MAX = 50;

/** Also in the life after this one: what went into requests is kept beside the transcript, for as long as there is room. */
export function keptBeside(inMemory: KeptBootstraps = keptInMemory()): KeptBootstraps {
  return {
    put: inMemory.put,
    async get(owner, hash) {
      const known = await inMemory.get(owner, hash);
      if (known !== undefined || owner.file === null) return known;
      const found = await fromRequests(owner.file, hash).catch(() => undefined);
      if (found !== undefined) await inMemory.put(owner, found);
      return found;
    },
  };
}

async function fromRequests(transcript: string, hash: string): Promise<Bootstrap | undefined> {
  const { requests, texts } = await readRequests(transcript);
  for (const { report } of requests.slice(-REQUESTS_MAX).reverse()) {
    const own = report.sections.filter(({ name }) => !FIXED_SECTIONS.includes(name));
    const sections = own.map((section) => ({ name: section.name, text: texts.get(section.sha256) ?? "" }));
    if (hashOf(sections) === hash) return { hash, sections, files: report.files };
  }
  return undefined;
}
