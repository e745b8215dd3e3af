/** Cases about what else people do with a tree, over any store: ends and their times, names, summaries, edits, copies. */
import { realWorld } from "@holdfast/base";
import { branchWithSummary, editContext, labelEntry, renameSession } from "../acts.ts";
import { branchesOf } from "../branches.ts";
import { fieldsOf, type NewEntry } from "../entry.ts";
import { sessionsOver } from "../sessions.ts";
import type { SessionStore } from "../store.ts";
import type { Session, Sessions } from "../types.ts";
import { assert, type StoreCase, storeCase } from "./kit.ts";

const KEY = "agent:main:main";
const COPY = "agent:main:copy";

/** Opened anew: nothing of what another object knew is left. */
function over(store: SessionStore): Sessions {
  return sessionsOver({ store, world: realWorld(), fsync: "always", cwd: "/", onLost: () => {} });
}

/** q1 → a1 → q2 → a2, and q3 under a1, where the conversation stands. Each was said a minute after the one before. */
async function begun(store: SessionStore): Promise<Session> {
  const session = await over(store).open(KEY);
  await session.append([said("q1", 1), said("a1", 2), said("q2", 3), said("a2", 4)]);
  await session.branch("a1");
  await session.append(said("q3", 5));
  return session;
}

function said(id: string, minute: number): NewEntry {
  const timestamp = `2026-01-02T03:0${minute}:00.000Z`;
  const content = [{ type: "text", text: id }];
  const message = id.startsWith("q") ? { role: "user", content } : { role: "assistant", content, stopReason: "stop" };
  return { type: "message", id, timestamp, message };
}

/** The texts that the model sees. */
async function seen(session: Session, leaf?: string): Promise<readonly unknown[]> {
  const { messages } = await session.context(leaf === undefined ? {} : { leaf });
  return messages.map((message) => {
    const { content, summary } = fieldsOf(message);
    const [block] = Array.isArray(content) ? content : [];
    return summary ?? (block as { readonly text?: unknown } | undefined)?.text ?? content;
  });
}

/** Looks at the session as the store has it, through an object of its own. */
async function again<T>(store: SessionStore, look: (session: Session) => Promise<T>): Promise<T> {
  return look(await over(store).open(KEY));
}

export const actCases: readonly StoreCase[] = [
  storeCase("acts: ends of branches with their last activity, children in order, the common ancestor", async (at) => {
    const { tree } = await begun(at.store);
    const leaves = await tree.leaves();
    assert.deepEqual(
      leaves.map(({ entry, current }) => [entry.id, entry.timestamp, current]),
      [
        ["q3", "2026-01-02T03:05:00.000Z", true],
        ["a2", "2026-01-02T03:04:00.000Z", false],
      ],
    );
    const ends = await again(at.store, async (session) => branchesOf(session).leaves());
    assert.deepEqual(
      ends.map(({ id, lastActivity, depth }) => [id, lastActivity, depth]),
      [
        ["a2", "2026-01-02T03:04:00.000Z", 4],
        ["q3", "2026-01-02T03:05:00.000Z", 3],
      ],
    );
    // The move to a1 stands under it too: a line of the log, though nothing that was said.
    const children = (await tree.children("a1")).filter(({ type }) => type === "message");
    assert.deepEqual(
      children.map(({ id }) => id),
      ["q2"],
    );
    const next = await again(at.store, async (session) => branchesOf(session).childrenOf("a1"));
    assert.deepEqual(
      next.map(({ id }) => id),
      ["q2", "q3"],
    );
    assert.equal((await tree.commonAncestor("a2", "q3"))?.id, "a1");
    assert.equal((await tree.commonAncestor("q2", "a2"))?.id, "q2");
  }),
  storeCase("acts: looking at another branch writes nothing and moves nothing", async ({ store }) => {
    const session = await begun(store);
    const before = (await session.since(null)).length;
    assert.deepEqual(await seen(session, "a2"), ["q1", "a1", "q2", "a2"]);
    await session.tree.leaves();
    await session.tree.children("a1");
    await branchesOf(session).leaves();
    assert.equal((await session.since(null)).length, before);
    assert.deepEqual(await again(store, seen), ["q1", "a1", "q3"]);
  }),
  storeCase("acts: a label on any branch, changed and taken back; the leaf stays", async ({ store }) => {
    const session = await begun(store);
    const label = (): Promise<string | null | undefined> =>
      again(store, async (now) => (await branchesOf(now).leaves())[0]?.label);
    await labelEntry(session, "a2", "first try");
    assert.equal(await label(), "first try");
    await labelEntry(session, "a2", "the first try");
    assert.equal(await label(), "the first try");
    await labelEntry(session, "a2", "");
    assert.equal(await label(), null);
    assert.deepEqual(await again(store, seen), ["q1", "a1", "q3"]);
  }),
  storeCase("acts: a conversation gets a name, another one, and none", async ({ store }) => {
    const session = await begun(store);
    const name = (): Promise<string | null> => again(store, async (now) => (await now.tree.settings()).name);
    assert.equal(await name(), null);
    for (const given of ["boats", "more\nboats"]) await renameSession(session, given);
    assert.equal(await name(), "more boats");
    await renameSession(session, "");
    assert.equal(await name(), null);
  }),
  storeCase("acts: a summary of the branch that is left goes along", async ({ store }) => {
    const session = await begun(store);
    await branchWithSummary(session, "a2", { text: "asked q3" });
    assert.deepEqual(await again(store, seen), ["q1", "a1", "q2", "a2", "asked q3"]);
    await branchWithSummary(session, null, { text: "all of it" });
    assert.deepEqual(await again(store, seen), ["all of it"]);
  }),
  storeCase("acts: an edit changes what its target contributes, on this branch; the entry stays", async ({ store }) => {
    const session = await begun(store);
    await editContext(session, "a1", { content: "shorter" });
    await editContext(session, "q1", null);
    assert.deepEqual(await again(store, seen), ["shorter", "q3"]);
    assert.deepEqual(await again(store, (now) => seen(now, "a2")), ["q1", "a1", "q2", "a2"]);
    const stored = await session.entry("a1");
    assert.deepEqual(stored && fieldsOf(stored).message, said("a1", 2).message);
  }),
  storeCase("acts: a fork is a copy of a path, says where it came from, and goes its own way", async ({ store }) => {
    const session = await begun(store);
    const sessions = over(store);
    const { from, row } = await sessions.keep.fork(KEY, COPY, { entryId: "q2" });
    assert.equal(from, "q2");
    assert.deepEqual(row.forkedFrom, { sessionId: session.id, entryId: "q2" });
    const copy = await sessions.open(COPY);
    assert.notEqual(copy.id, session.id);
    await copy.append(said("a4", 6));
    assert.deepEqual(await seen(await over(store).open(COPY)), ["q1", "a1", "q2", "a4"]);
    assert.deepEqual(await again(store, seen), ["q1", "a1", "q3"]);
    const [about] = await copy.since(null);
    const origin = { sessionId: session.id, entryId: "q2" };
    assert.deepEqual(about && fieldsOf(about).data, { key: COPY, agentId: "main", origin });
  }),
];
