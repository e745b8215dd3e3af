/**
 * The ledger of a session: every action that had an effect or might have had one, with what is known of it, read from its
 * entries; and a person's verdict about one that nobody could tell.
 *
 * Invariant: a verdict never replaces a result. It stands beside it, and the model is told on the current branch.
 */
import { isObject, type JsonObject, type World } from "@holdfast/base";
import type { Entry, Session } from "@holdfast/sessions";
import type { ActionFolders } from "./actions/folder.ts";
import { addToRecord } from "./actions/record.ts";
import { type AnswerEntry, callsOf, customTypeOf, isAnswer, isResult, recoveredVerdict } from "./entries.ts";
import type { Effect, Verdict } from "./types.ts";

export interface LedgerAction {
  readonly key: string;
  readonly tool: string;
  readonly effect: Effect;
  readonly args: JsonObject;
  readonly entryId: string;
  readonly ordinal: number;
  readonly attempts: number;
  /** `open`: no result is on record. `done`: an ordinary result is. Else the last verdict. */
  readonly state: "open" | "done" | Verdict;
  /** Who found out: a probe, or a person's name. */
  readonly by: string | null;
  readonly evidence: JsonObject | null;
  /** What the result says; null while there is none. */
  readonly result: string | null;
  readonly at: string;
}

interface Draft {
  readonly intent: Record<string, unknown>;
  readonly at: string;
  attempts: number;
  verdict: Record<string, unknown> | null;
  result: { readonly text: string; readonly recovered: Verdict | undefined } | null;
}

/** In the order in which they were begun. Reads the whole session, in one pass. */
export async function ledgerOf(session: Session): Promise<readonly LedgerAction[]> {
  const drafts = new Map<string, Draft>();
  const answers = new Map<string, AnswerEntry>();
  const places = new Map<string, string>();
  for await (const entry of session.oldestFirst()) {
    if (isAnswer(entry) && callsOf(entry).length > 0) answers.set(entry.id, entry);
    takeIn(entry, { drafts, places });
  }
  return [...drafts.values()].map((draft) => actionOf(draft, answers));
}

/**
 * What was done, or may have been, on the part of the current branch that is left when the conversation goes on after
 * `entryId`. It stays done: going back in a conversation takes nothing back in the world. Reads the whole session.
 */
export async function effectsLeft(session: Session, entryId: string): Promise<readonly LedgerAction[]> {
  const parents = new Map<string, string | null>();
  for await (const { id, parentId } of session.oldestFirst()) parents.set(id, parentId);
  const kept = new Set(upwards(entryId, parents));
  const left = new Set([...upwards(session.leaf(), parents)].filter((id) => !kept.has(id)));
  const actions = left.size === 0 ? [] : await ledgerOf(session);
  return actions.filter((action) => left.has(action.entryId) && !UNDONE.has(action.state));
}

const UNDONE: ReadonlySet<LedgerAction["state"]> = new Set(["absent", "not_started"]);

function* upwards(from: string | null, parents: ReadonlyMap<string, string | null>): Generator<string> {
  for (let id: string | null | undefined = from; typeof id === "string"; id = parents.get(id)) yield id;
}

function takeIn(
  entry: Entry,
  { drafts, places }: { readonly drafts: Map<string, Draft>; readonly places: Map<string, string> },
): void {
  const { data } = entry as { readonly data?: unknown };
  const kind = customTypeOf(entry);
  if (kind === "holdfast:intent" && isObject(data)) {
    const name = `${String(data.entryId)}#${String(data.ordinal)}`;
    const known = drafts.get(name);
    places.set(String(data.key), name);
    if (known === undefined)
      drafts.set(name, { intent: data, at: entry.timestamp, attempts: 1, verdict: null, result: null });
    else known.attempts += 1;
  }
  if (kind === "holdfast:verdict" && isObject(data)) {
    const draft = drafts.get(places.get(String(data.key)) ?? "");
    if (draft !== undefined) draft.verdict = data;
  }
  if (!isResult(entry) || entry.call === undefined) return;
  const draft = drafts.get(`${entry.call.entryId}#${entry.call.ordinal}`);
  if (draft === undefined) return;
  const text = entry.message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  draft.result = { text, recovered: recoveredVerdict(entry) };
}

function actionOf(
  { intent, at, attempts, verdict, result }: Draft,
  answers: ReadonlyMap<string, AnswerEntry>,
): LedgerAction {
  const entryId = String(intent.entryId);
  const ordinal = Number(intent.ordinal);
  const answer = answers.get(entryId);
  const call = answer && callsOf(answer)[ordinal];
  const byPerson = verdict !== null && typeof verdict.by === "string" && verdict.by !== "probe";
  return {
    key: String(intent.key),
    tool: String(intent.tool),
    effect: intent.effect as Effect,
    args: isObject(call?.arguments) ? (call.arguments as JsonObject) : {},
    entryId,
    ordinal,
    attempts,
    state: byPerson ? (verdict.verdict as Verdict) : result === null ? "open" : (result.recovered ?? "done"),
    by: typeof verdict?.by === "string" ? verdict.by : null,
    evidence: isObject(verdict?.evidence) ? (verdict.evidence as JsonObject) : null,
    result: result?.text ?? null,
    at,
  };
}

export type PersonSettled =
  | { readonly kind: "settled"; readonly action: LedgerAction; readonly durable: boolean }
  | { readonly kind: "none" }
  | { readonly kind: "several"; readonly keys: readonly string[] }
  /** Still at work, or its result will be found out by the next turn: nobody needs to decide. */
  | { readonly kind: "open"; readonly action: LedgerAction };

/**
 * Writes a person's verdict about an action whose outcome is not known, and tells the model on the current branch.
 * `key` may be the beginning of one. `open` also while somebody performs or settles it right now.
 */
export async function settleByPerson(
  session: Session,
  {
    key,
    happened,
    by,
    note,
  }: { readonly key: string; readonly happened: boolean; readonly by: string; readonly note?: string },
  { folders, world }: { readonly folders: ActionFolders; readonly world: World },
): Promise<PersonSettled> {
  const found = (await ledgerOf(session)).filter((action) => key !== "" && action.key.startsWith(key));
  const [action] = found;
  if (action === undefined) return { kind: "none" };
  if (new Set(found.map((each) => each.key)).size > 1) return { kind: "several", keys: found.map((each) => each.key) };
  if (action.result === null) return { kind: "open", action };
  using lock = await folders.lock(action.key, by);
  if (lock === undefined) return { kind: "open", action };
  const verdict = happened ? "happened" : "absent";
  const evidence: JsonObject = { person: by, ...(note === undefined ? {} : { note }) };
  const data = { key: action.key, verdict, evidence, by };
  // Of a business act every session has to know.
  if ((await folders.readRecord(action.key)) !== "") {
    const outcome = { ok: happened, text: action.result };
    const place = { session: session.id, entryId: action.entryId, ordinal: action.ordinal, atMs: world.nowMs() };
    await addToRecord(folders, action.key, { event: "outcome", ...place, verdict, outcome });
  }
  const says = happened ? "it did happen" : "it did not happen";
  const content = `About ${action.tool} ${JSON.stringify(action.args).slice(0, 500)}, whose outcome was not known: ${by} looked, and ${says}.${note === undefined ? "" : ` ${note}`}`;
  const { durable } = await session.append([
    { type: "custom", customType: "holdfast:verdict", data },
    { type: "custom_message", customType: "holdfast:verdict", content, display: true },
  ]);
  return { kind: "settled", action: { ...action, state: verdict, by, evidence }, durable };
}
