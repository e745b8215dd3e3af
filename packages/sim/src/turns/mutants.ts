/**
 * One mistake for each rule of docs/durability.md that speaks of turns, actions, lanes or replies. The list was written from the
 * rules; here stands how each mistake is made, between the product and its parts, and in which story it can show.
 * Only tests use them.
 */
import { openCalls } from "@holdfast/agent/internal";
import type { Appended, NewEntry } from "@holdfast/sessions";
import { type Mutation, withFiles, withoutDirectorySync, withoutSync } from "../simulate/mutants.ts";
import { simulatedFolders } from "./folders.ts";
import { ACTIONS, KEY, type Parts } from "./story.ts";
import { agentOf, isIntent, listOf, logOf, sessionOf, storeOf, toolsOf, withData } from "./wrap.ts";

export interface Mutant {
  readonly rule: string;
  readonly mistake: string;
  /** The story in which it has to be found. */
  readonly story: string;
  readonly mutate: (parts: Parts) => Parts;
  /** Which faults are needed to see it; deaths when left out. */
  readonly needs?: "freezes" | "refusals";
}

/** Acknowledges at once; the sync comes while the process does other things. */
const withSlowSync: Mutation = (disk) =>
  withFiles(disk, (file) => ({
    async datasync() {
      const sync = async (): Promise<void> => {
        for (let others = 0; others < 6; others++) await disk.realpath("/home");
        await file.datasync();
      };
      sync().catch(() => {});
    },
  }));

const NOTHING: Appended = { entries: [], durable: true, change: "none" };
const free = { note() {}, release() {}, [Symbol.dispose]() {} };

export const MUTANTS: readonly Mutant[] = [
  {
    rule: "an append of an older turn is refused",
    mistake: "appends are not checked against the turn",
    story: "one file written",
    needs: "freezes",
    mutate: sessionOf((session) => ({
      renewTurn: async () => true,
      append: (entries, options) =>
        session.append(entries, options).catch((error: { readonly code?: string }) => {
          if (error.code !== "stale_turn") throw error;
          return session.append(entries);
        }),
    })),
  },
  {
    rule: "a turn has one holder",
    mistake: "the right is given to everybody who asks",
    story: "one file written",
    needs: "freezes",
    mutate: sessionOf((session) => ({
      async claimTurn(holder, leaseMs) {
        const claim = await session.claimTurn(holder, leaseMs);
        if (claim.kind === "claimed") return claim;
        await session.catchUp();
        const t = Math.max(1, ...(await session.since(null)).map((entry) => entry.t ?? 0));
        return { kind: "claimed", right: { session: session.id, t, holder: claim.by } };
      },
    })),
  },
  {
    rule: "whoever settles takes the action's lock first",
    mistake: "settled without the lock",
    story: "one file written",
    needs: "freezes",
    mutate: (parts) => ({
      ...parts,
      folders: { ...parts.folders, lock: async (...of) => (await parts.folders.lock(...of)) ?? free },
    }),
  },
  {
    rule: "appended, synced, then acknowledged",
    mistake: "nothing is synced",
    story: "something nobody can tell",
    mutate: (parts) => ({ ...parts, disk: withoutSync(parts.disk) }),
  },
  {
    rule: "appended, synced, then acknowledged",
    mistake: "acknowledged while the sync is under way",
    story: "something nobody can tell",
    mutate: (parts) => ({ ...parts, disk: withSlowSync(parts.disk) }),
  },
  {
    rule: "the names of new files are synced",
    mistake: "names are left to themselves",
    story: "something nobody can tell",
    mutate: (parts) => ({ ...parts, disk: withoutDirectorySync(parts.disk) }),
  },
  {
    rule: "the intent is durable before the effect",
    mistake: "the intent is written after the effect",
    story: "something nobody can tell",
    mutate: sessionOf((session) => {
      const kept: { entries: readonly NewEntry[] } = { entries: [] };
      return {
        append: async (entries, options) => {
          const all = [...kept.entries, ...listOf(entries)];
          kept.entries = listOf(entries).filter(isIntent);
          const rest = all.filter((entry) => !kept.entries.includes(entry));
          return rest.length === 0 ? NOTHING : session.append(rest, options);
        },
      };
    }),
  },
  {
    rule: "every effect has an intent",
    mistake: "no intent is written",
    story: "something nobody can tell",
    mutate: sessionOf((session) => ({
      append: async (entries, options) => {
        const rest = listOf(entries).filter((entry) => !isIntent(entry));
        return rest.length === 0 ? NOTHING : session.append(rest, options);
      },
    })),
  },
  {
    rule: "the effect, then its result",
    mistake: "the result is written before the effect",
    story: "something nobody can tell",
    mutate: (parts) => {
      const later: (() => Promise<unknown>)[] = [];
      const postponed = toolsOf((tool) => ({
        run: async (...given) => {
          later.push(() => tool.run(...given));
          return { ok: true, text: "done" };
        },
      }))(parts);
      const ask: Parts["model"]["ask"] = async (...given) => {
        for (const run of later.splice(0)) await run();
        return parts.model.ask(...given);
      };
      return { ...postponed, model: { name: parts.model.name, ask } };
    },
  },
  {
    rule: "one key for all attempts",
    mistake: "each attempt gets a key of its own",
    story: "something that may be repeated",
    mutate: toolsOf((tool) => ({
      run: (args, evidence, context) => {
        const attempt = context.attemptDirectory.split("/").at(-1);
        return tool.run(args, evidence, {
          ...context,
          key: attempt === "1" ? context.key : `${context.key}.${attempt}`,
        });
      },
    })),
  },
  {
    rule: "happened only where a probe says so",
    mistake: "claimed to have happened",
    story: "one file written",
    mutate: toolsOf(() => ({
      probe: async (_args, evidence) => ({ kind: "happened", evidence, outcome: { ok: true, text: "" } }),
    })),
  },
  {
    rule: "absent only where a probe says so",
    mistake: "claimed to be absent",
    story: "one file written",
    mutate: toolsOf(() => ({ probe: async (_args, evidence) => ({ kind: "absent", evidence, says: "" }) })),
  },
  {
    rule: "what still runs is waited for",
    mistake: "what still runs is taken for absent",
    story: "a command that runs on",
    mutate: toolsOf((tool) => ({
      async probe(args, evidence, context) {
        const found = await tool.probe!(args, evidence, context);
        return found.kind === "in_flight" ? { kind: "absent", evidence, says: "" } : found;
      },
    })),
  },
  {
    rule: "a conflict is not repeated",
    mistake: "something else is there, and it is overwritten",
    story: "a file that somebody else changes",
    mutate: toolsOf((tool) => ({
      async probe(args, evidence, context) {
        const found = await tool.probe!(args, evidence, context);
        return found.kind === "conflict" ? { ...found, kind: "absent" } : found;
      },
    })),
  },
  {
    rule: "what nobody can tell is not repeated",
    mistake: "repeated because nobody can tell",
    story: "something nobody can tell",
    mutate: toolsOf(() => ({ effect: "idempotent" })),
  },
  {
    rule: "of two declarations the stricter counts",
    mistake: "a declaration that was made milder is believed",
    story: "a tool that calls itself milder later",
    mutate: logOf((entry) => (isIntent(entry) ? withData(entry, { effect: "none" }) : entry)),
  },
  {
    rule: "another home's intent is not settled here",
    mistake: "settled as if it were ours",
    story: "another home takes over",
    needs: "freezes",
    mutate: logOf((entry) => (isIntent(entry) ? withData(entry, { home: "home-2" }) : entry)),
  },
  {
    rule: "the ledger is asked before a business act",
    mistake: "the record is not read",
    story: "a business act",
    mutate: (parts) => ({ ...parts, folders: { ...parts.folders, readRecord: async () => "" } }),
  },
  {
    rule: "the record's lines are synced",
    mistake: "the record is written without a sync",
    story: "a business act",
    mutate: (parts) => ({ ...parts, folders: simulatedFolders(withoutSync(parts.disk), ACTIONS) }),
  },
  {
    rule: "a call that needs a yes waits for it",
    mistake: "run without asking",
    story: "a no",
    mutate: agentOf(() => ({ allowed: () => null })),
  },
  {
    rule: "an approval is used once, for its arguments",
    mistake: "whoever said yes once has said it for all",
    story: "a yes and a no",
    mutate: (parts) => {
      const said = { yes: false };
      const heard = sessionOf((session) => ({
        append: (entries, options) => {
          said.yes ||= listOf(entries).some(
            (entry) => (entry.data as { readonly event?: unknown })?.event === "decided",
          );
          return session.append(entries, options);
        },
      }))(parts);
      return agentOf((agent) => ({ allowed: (...of) => (said.yes ? null : agent.allowed(...of)) }))(heard);
    },
  },
  {
    rule: "an approval has an end",
    mistake: "a yes counts whenever it comes",
    story: "a yes that comes too late",
    mutate: agentOf(() => ({ allowed: () => ({ expiresInMs: 1e12 }) })),
  },
  {
    rule: "an item is durable before it is acknowledged",
    mistake: "acknowledged first",
    story: "no tool",
    mutate: (parts) => ({
      ...parts,
      send: (queue, tell) => async (message) => {
        await tell(message.key);
        await queue(message);
      },
    }),
  },
  {
    rule: "a key is in its lane once",
    mistake: "a redelivery is a new message",
    story: "messages delivered again",
    mutate: storeOf((store) => ({
      async enqueue(item, nowMs, also) {
        const before = await store.list({ lane: item.lane });
        const times = before.filter(({ key }) => key.startsWith(item.key)).length;
        return store.enqueue(times === 0 ? item : { ...item, key: `${item.key}#${times}` }, nowMs, also);
      },
    })),
  },
  {
    rule: "the item remembers where it began",
    mistake: "the start is looked up again in every life",
    story: "no tool",
    mutate: storeOf((store) => ({
      async claim(request) {
        const item = await store.claim(request);
        return item && { ...item, start: null };
      },
    })),
  },
  {
    rule: "reply queued and item done are one transaction",
    mistake: "done first, then queued",
    story: "no tool",
    mutate: storeOf((store) => ({
      async commit(holder, changes, nowMs) {
        const queued = changes.filter(({ kind }) => kind === "enqueue");
        const rest = changes.filter(({ kind }) => kind !== "enqueue");
        return (await store.commit(holder, rest, nowMs)) && store.commit(holder, queued, nowMs);
      },
    })),
  },
  {
    rule: "that a send begins is durable before it begins",
    mistake: "sent without a note",
    story: "a reply that is held when uncertain",
    mutate: storeOf((store) => ({
      commit: (holder, changes, nowMs) => {
        const begins = (change: (typeof changes)[number]): boolean =>
          change.kind === "note" && Object.keys(change.patch).join() === "progress";
        return store.commit(
          holder,
          changes.filter((change) => !begins(change)),
          nowMs,
        );
      },
    })),
  },
  {
    rule: "an uncertain send follows its policy",
    mistake: "sent again although it shall be held",
    story: "a reply that is held when uncertain",
    mutate: storeOf((store) => ({
      async claim(request) {
        const item = await store.claim(request);
        return item && { ...item, progress: 0 };
      },
    })),
  },
  {
    rule: "an attempt is charged before the work",
    mistake: "never charged",
    story: "a call that ends the gateway",
    mutate: agentOf(() => ({ charge: async () => true })),
  },
  {
    rule: "what was durable before the intent holds it back",
    mistake: "a stop is looked at only between questions",
    story: "a stop during a call",
    mutate: agentOf((agent) => ({
      async arrived(item) {
        const all = await agent.arrived(item);
        await using session = await agent.sessions.open(KEY);
        return openCalls(session.path()).length === 0 ? all : { ...all, stop: null, steer: [] };
      },
    })),
  },
  {
    rule: "an answer names what it answers",
    mistake: "whatever follows a message answers it",
    story: "a no after another message",
    mutate: logOf((entry, all) => {
      if ((entry as { readonly answers?: unknown }).answers === undefined) return entry;
      const before = all.slice(
        0,
        all.findIndex(({ id }) => id === entry.id),
      );
      const users = before.filter(
        (each) => (each as { readonly message?: { readonly role?: string } }).message?.role === "user",
      );
      return { ...entry, answers: users.map(({ id }) => id) };
    }),
  },
  {
    rule: "a result hangs under its call",
    mistake: "a late result is written where the conversation stands",
    story: "a branch that is left during a call",
    mutate: sessionOf((session) => ({
      append: (entries, options) =>
        session.append(
          listOf(entries).map(({ parentId: _parent, ...rest }) => rest as NewEntry),
          options,
        ),
    })),
  },
];
