/**
 * A client that reads everything in every way the engine offers, and holds each answer against the bytes on the disk.
 * Invariant: an answer is what the file said when it was asked for or when it came; whether there is an index beside it,
 * whole, half written or of another file, makes no difference.
 */
import type { Session } from "@holdfast/sessions";
import { ancestorsOf, type LineFact, pathOf } from "../history/transcript-facts.ts";
import type { Client } from "./client.ts";

/** What was asked, and the ids that answer it. */
type Answers = ReadonlyMap<string, string>;

export async function look(client: Client, key: string): Promise<void> {
  await client.tell({ what: "look", key, ids: [] }, async () => {
    const session = await client.session(key);
    const before = expected(linesOf(client, session.id));
    const answers = await asked(session, linesOf(client, session.id));
    const after = expected(linesOf(client, session.id));
    for (const [question, answer] of answers) {
      if (answer === before.get(question) || answer === after.get(question) || client.process.isDead) continue;
      client.outside.onSurprise(`${question}: ${answer}, on the disk: ${after.get(question)}`);
    }
    return { sessionId: session.id, entries: [] };
  });
}

function linesOf(client: Client, id: string): readonly LineFact[] {
  const [live] = client.outside.facts().transcripts.get(id) ?? [];
  return live?.facts.entries ?? [];
}

const ALL = { limit: 1000 };
const idsOf = (entries: readonly { readonly id: string }[]): string => entries.map(({ id }) => id).join();

async function asked(session: Session, lines: readonly LineFact[]): Promise<Answers> {
  const { tree } = session;
  const answers = new Map<string, string>();
  answers.set("all", idsOf(await session.since(null)));
  answers.set("page", idsOf(await tree.page(ALL)));
  const leaves = await tree.leaves(ALL);
  answers.set("leaf", idsOf(leaves.filter(({ current }) => current).map(({ entry }) => entry)));
  answers.set(
    "leaves",
    leaves
      .map(({ entry }) => entry.id)
      .toSorted()
      .join(),
  );
  answers.set("roots", idsOf(await tree.children(null, ALL)));
  for (const id of new Set(lines.map((line) => line.id))) {
    answers.set(`above ${id}`, idsOf(await tree.ancestors(id, ALL)));
    answers.set(`under ${id}`, idsOf(await tree.children(id, ALL)));
    answers.set(`entry ${id}`, String((await session.entry(id))?.id));
  }
  answers.set("nobody", String((await session.entry("nobody"))?.id));
  return answers;
}

function expected(lines: readonly LineFact[]): Answers {
  const parents = new Set(lines.flatMap(({ parentId }) => (parentId === null ? [] : [parentId])));
  const under = (id: string | null): string => idsOf(lines.filter(({ parentId }) => parentId === id));
  const ends = lines.filter(({ id }) => !parents.has(id)).map(({ id }) => id);
  const [leaf = ""] = pathOf(lines);
  return new Map([
    ["all", idsOf(lines)],
    ["page", idsOf(lines)],
    ["leaf", leaf],
    ["leaves", ends.toSorted().join()],
    ["roots", under(null)],
    ["nobody", "undefined"],
    ...lines.flatMap(({ id }, index): (readonly [string, string])[] => [
      [`above ${id}`, ancestorsOf(lines, index).slice(1).join()],
      [`under ${id}`, under(id)],
      [`entry ${id}`, id],
    ]),
  ]);
}
