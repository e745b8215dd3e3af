/**
 * Which workspace files this turn's prompt has: found on the disk, kept from before, or left out because the branch has had
 * them.
 *
 * read → set-up done? → compose → as before? → sections, and an entry that says so
 * Invariant: within a turn the bytes stay the same, and from turn to turn they change only when the files do (or when a
 * compaction came between): what providers cache of a prompt ends where it changes.
 */
import type { Entry, NewEntry, Session } from "@holdfast/sessions";
import type { Work } from "../../work.ts";
import { type Bootstrap, composeFor } from "./compose.ts";
import { dayAt } from "./days.ts";
import { diskWorkspace, type ReadWorkspace } from "./files.ts";
import { type KeptBootstraps, notKept } from "./kept.ts";
import { kindOf, type Run, wantedBy } from "./kinds.ts";
import { isOwnMemory, lookBack, type Marker, markerEntry, markerOf, writtenSince } from "./marker.ts";
import { noticeOfCuts } from "./notice.ts";
import { type BootstrapSettings, settingsOf } from "./settings.ts";
import { withoutOldSetup } from "./setup.ts";

/** Where it comes from; what is left out is read anew from the disk, as set by default, and not kept. */
export interface BootstrapPorts {
  readonly settings?: BootstrapSettings;
  readonly read?: ReadWorkspace;
  readonly kept?: KeptBootstraps;
}

/** `light`: a heartbeat's. `nothing`: there is nothing that this run is given. */
export type Injection =
  | { readonly how: "full" | "light"; readonly bootstrap: Bootstrap }
  | { readonly how: "skipped" | "never" | "nothing"; readonly bootstrap: null };

/** What a turn was given. */
export interface Given {
  readonly injection: Injection;
  /** The newest compaction when it was decided: a later one takes it away. */
  readonly compaction: string | null;
  /** What the log shall say about it, until it does. */
  readonly unsaid: readonly NewEntry[];
}

/** Decided once in a turn, and again after a compaction. */
export async function injectionFor(
  work: Work,
  place: { readonly leaf: string | null; readonly compaction: string | null },
): Promise<Injection> {
  if (work.given?.compaction !== place.compaction) work.given = await decide(work, place);
  return work.given.injection;
}

/** The entries that go into the log with the first answer that was made with it. */
export function sayInjected(work: Work): readonly NewEntry[] {
  const { given } = work;
  if (given === undefined) return [];
  work.given = { ...given, unsaid: [] };
  return given.unsaid;
}

async function decide(
  work: Work,
  { leaf, compaction }: { readonly leaf: string | null; readonly compaction: string | null },
): Promise<Given> {
  const { item, agent, session, start } = work;
  const settings = settingsOf(agent);
  const without = (how: "skipped" | "never" | "nothing"): Given => ({
    injection: { how, bootstrap: null },
    compaction,
    unsaid: [],
  });
  if (settings.injection === "never") return without("never");
  const run: Run = { kind: kindOf(item.sessionKey), weight: item.message.weight ?? "full" };
  const now = await bootstrapNow(work, run, settings);
  if (now.sections.length === 0) return without("nothing");
  if (run.weight !== "full") return { injection: { how: "light", bootstrap: now }, compaction, unsaid: [] };
  const form = [run.kind, settings.limits.maxChars, settings.limits.totalMaxChars].join(" ");
  const path = await newestFirst(session, leaf);
  const { own, earlier } = lookBack(path, start);
  const holds = (marker: Marker): boolean =>
    marker.hash === now.hash || isOwnMemory(marker, now, form, () => writtenSince(path, marker.hash));
  if (settings.injection === "continuation-skip" && own === null && earlier !== null && holds(earlier))
    return without("skipped");
  const before = own ?? earlier;
  const bootstrap = before !== null && holds(before) ? await keptOr(work, before, now) : now;
  const injection = { how: "full", bootstrap } as const;
  if (own?.hash === bootstrap.hash) return { injection, compaction, unsaid: [] };
  await agent.bootstrap?.kept?.put(session, bootstrap);
  const unsaid = [markerEntry(markerOf(bootstrap, form)), ...(await noticeOfCuts(work, bootstrap, settings.limits))];
  return { injection, compaction, unsaid };
}

async function bootstrapNow({ agent }: Work, run: Run, settings: BootstrapSettings): Promise<Bootstrap> {
  const { world, workspace, bootstrap: { read = diskWorkspace(world) } = {} } = agent;
  const { memory, timezone, limits } = settings;
  const wanted = wantedBy(run, memory, dayAt(timezone, world.nowMs()));
  const found = wanted.files.length === 0 && !wanted.skills ? NOTHING : await read(workspace, wanted);
  const window = (await agent.model.contextWindow?.()) ?? Number.POSITIVE_INFINITY;
  return composeFor(withoutOldSetup(found), limits, window);
}

const NOTHING = { files: [], skills: [] };

/** What the turn before had, byte for byte; what is there now where that is not known any more. */
async function keptOr({ agent, session }: Work, { hash }: Marker, now: Bootstrap): Promise<Bootstrap> {
  if (hash === now.hash) return now;
  return (await (agent.bootstrap?.kept ?? notKept).get(session, hash)) ?? now;
}

/** The branch from its end, as far as one may want to look. */
async function newestFirst(session: Session, leaf: string | null): Promise<readonly Entry[]> {
  if (leaf === null) return [];
  if (leaf === session.leaf()) return session.path().toReversed();
  const end = await session.entry(leaf);
  return end === undefined ? [] : [end, ...(await session.tree.ancestors(leaf, { limit: 500 }))];
}
