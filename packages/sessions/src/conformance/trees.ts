/** Cases about trees: the acts of a person on a message, over any store, as a session shows them. */
import { realWorld } from "@holdfast/base";
import { answerAgain, editAndResend } from "../acts.ts";
import { branchesOf } from "../branches.ts";
import type { NewEntry } from "../entry.ts";
import { sessionsOver } from "../sessions.ts";
import type { SessionStore } from "../store.ts";
import type { Session } from "../types.ts";
import { assert, type StoreCase, storeCase } from "./kit.ts";

const KEY = "agent:main:main";

/** A session over the store, opened anew: nothing of what another one knew is left. */
function open(store: SessionStore): Promise<Session> {
  const sessions = sessionsOver({ store, world: realWorld(), fsync: "always", cwd: "/", onLost: () => {} });
  return sessions.open(KEY);
}

function said(role: "user" | "assistant", id: string): NewEntry {
  const content = role === "user" ? id : [{ type: "text", text: id }];
  return { type: "message", id, message: { role, content, ...(role === "user" ? {} : { stopReason: "stop" }) } };
}

/** What the model sees, by the ids of the entries. */
async function seen(session: Session, leaf?: string): Promise<readonly string[]> {
  return (await session.context(leaf === undefined ? {} : { leaf })).entryIds;
}

export const treeCases: readonly StoreCase[] = [
  storeCase("trees: answer again; the first answer stays, off the path", async ({ store }) => {
    const session = await open(store);
    await session.append([said("user", "A"), said("assistant", "B")]);
    assert.equal((await answerAgain(session, "B")).question, "A");
    assert.deepEqual(await seen(await open(store)), ["A"], "the move itself is durable");
    await session.append(said("assistant", "C"));
    assert.deepEqual(await seen(session), ["A", "C"]);
    assert.deepEqual(await seen(await open(store)), ["A", "C"]);
    const kept = (await session.since(null)).map(({ id }) => id).filter((id) => id.length === 1);
    assert.deepEqual(kept, ["A", "B", "C"]);
    const children = await branchesOf(session).childrenOf("A");
    assert.deepEqual(
      children.map(({ id }) => id),
      ["B", "C"],
    );
  }),
  storeCase("trees: branch here and write on; both user messages reach the model", async ({ store }) => {
    const session = await open(store);
    await session.append([said("user", "msg_001"), said("assistant", "msg_002")]);
    await session.append([said("user", "msg_003"), said("assistant", "msg_004")]);
    await session.branch("msg_001");
    await session.append(said("user", "msg_005"));
    assert.deepEqual(await seen(session), ["msg_001", "msg_005"]);
    await session.append(said("assistant", "msg_006"));
    const again = await open(store);
    assert.deepEqual(await seen(again), ["msg_001", "msg_005", "msg_006"]);
    assert.deepEqual(await seen(again, "msg_004"), ["msg_001", "msg_002", "msg_003", "msg_004"]);
    assert.deepEqual(await seen(again), ["msg_001", "msg_005", "msg_006"], "looking moves nothing");
    const branches = branchesOf(again);
    const leaves = (await branches.leaves()).map((leaf) => [leaf.id, leaf.differs.words, leaf.current]);
    assert.deepEqual(leaves, [
      ["msg_004", "msg_002", false],
      ["msg_006", "msg_005", true],
    ]);
    assert.equal(await branches.commonAncestor("msg_004", "msg_006"), "msg_001");
  }),
  storeCase("trees: edit and resend is a sibling, also of the first message", async ({ store }) => {
    const session = await open(store);
    await session.append([
      said("user", "one"),
      said("assistant", "two"),
      said("user", "three"),
      said("assistant", "four"),
    ]);
    const edited = (await editAndResend(session, "three", "other three")).entries.at(-1)?.id ?? "";
    assert.deepEqual(await seen(session), ["one", "two", edited]);
    const first = (await editAndResend(session, "one", "other one")).entries.at(-1)?.id ?? "";
    assert.deepEqual(await seen(await open(store)), [first]);
    const roots = await branchesOf(session).childrenOf(null);
    assert.deepEqual(
      roots.map(({ id, words }) => [id, words]),
      [
        ["one", "one"],
        [first, "other one"],
      ],
    );
  }),
];
