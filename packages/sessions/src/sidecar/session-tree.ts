/**
 * The tree of a session as its users ask about it: by ids, in pages, at any size.
 * Invariant: looking moves nothing and writes nothing to the transcript.
 */
import type { Entry } from "../entry.ts";
import { SessionError } from "../errors.ts";
import type { SessionTree } from "../types.ts";
import { ancestorsOf, childrenOf, commonAncestorOf, leavesOf, nameIn, pageBefore, settingsAt } from "./look.ts";
import type { Outline } from "./outline.ts";
import { endsOf, saidAfter } from "./said.ts";
import type { Places } from "./places.ts";

const PAGE_ENTRIES = 100;
const NOTHING = -1;

export function sessionTree(places: Places, session: string): SessionTree {
  const nodeOf = async (tree: Outline, id: string): Promise<number> => {
    const node = await tree.find(id);
    if (node === NOTHING) throw new SessionError("entry_missing", { entry: id, session });
    return node;
  };
  const placeOf = (tree: Outline, id: string | undefined) => (id === undefined ? NOTHING : nodeOf(tree, id));
  const leafOf = (tree: Outline, id: string | undefined) => (id === undefined ? tree.leaf() : nodeOf(tree, id));
  return {
    children: (id, { after, limit = PAGE_ENTRIES } = {}) =>
      places.run(async (tree) => {
        const node = await placeOf(tree, id ?? undefined);
        return childrenOf(tree, node, { after: await placeOf(tree, after), limit });
      }),
    ancestors: (id, { limit = PAGE_ENTRIES } = {}) =>
      places.run(async (tree) => ancestorsOf(tree, await nodeOf(tree, id), limit)),
    commonAncestor: (a, b) =>
      places.run(async (tree): Promise<Entry | null> => {
        const node = commonAncestorOf(tree, await nodeOf(tree, a), await nodeOf(tree, b));
        return node === NOTHING ? null : tree.read(node);
      }),
    ends: ({ after, limit = PAGE_ENTRIES } = {}) =>
      places.run(async (tree) => endsOf(tree, { after: await placeOf(tree, after), limit })),
    saidAfter: (id, { after, limit = PAGE_ENTRIES } = {}) =>
      places.run(async (tree) => {
        const node = await placeOf(tree, id ?? undefined);
        return saidAfter(tree, node, { after: await placeOf(tree, after), limit });
      }),
    leaves: ({ limit = PAGE_ENTRIES } = {}) => places.run((tree) => leavesOf(tree, limit)),
    page: ({ before, limit = PAGE_ENTRIES } = {}) =>
      places.run(async (tree) => {
        const end = before === undefined ? tree.size : await nodeOf(tree, before);
        return pageBefore(tree, end, limit);
      }),
    settings: (leaf) =>
      places.run(async (tree) => {
        const settings = await settingsAt(tree, await leafOf(tree, leaf));
        return { ...settings, thinkingLevel: settings.thinkingLevel ?? "off", name: await nameIn(tree) };
      }),
  };
}
