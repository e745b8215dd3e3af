/**
 * What must be true when a story is over, whatever happened in it. Facts come from the world, the platform, the clients and
 * the bytes of the transcript, never from the product's own opinion.
 */
import { isObject, tryParse } from "@holdfast/base";
import type { DiskImage } from "../disk/image.ts";
import { APPROVAL_MS, SESSIONS, type Story } from "./story.ts";
import { type Outside, outsideOf } from "./outside.ts";

export type Line = Readonly<Record<string, unknown>>;

interface Row {
  readonly lane: string;
  readonly key: string;
  readonly state: string;
  readonly body: { readonly reply?: { readonly text: string; readonly entryId: string } };
  readonly result: { readonly text?: string; readonly entryId?: string | null } | null;
}

export function brokenIn(story: Story, image: DiskImage): readonly string[] {
  const outside = outsideOf(image);
  const lines = transcriptLines(image);
  return [
    ...kept(story, outside),
    ...once(story, lines, outside),
    ...paired(lines, outside),
    ...honest(lines, outside),
    ...sentOnce(story, outside),
    ...delivered(outside),
    ...heardOnce(lines),
    ...allowed(story, lines, outside),
    ...inPlace(lines),
    ...replied(lines, outside),
    ...heldBack(story, outside),
  ];
}

/** A message whose sender was told is answered or visibly failed, in each gateway that accepted it. */
function kept({ messages, meanwhile = [], whileWaiting = [] }: Story, { told, lanes }: Outside): readonly string[] {
  const stores = Object.values(lanes) as unknown as readonly (readonly Row[])[];
  return [...messages, ...meanwhile, ...whileWaiting].flatMap(({ key }) => {
    if (!told.includes(key)) return [];
    const items = stores.flatMap((rows) => rows.filter((row) => row.lane === "main" && row.key === key));
    if (items.length === 0) return [`${key} was accepted and is lost`];
    if (items.length > stores.length) return [`${key} is in the lane ${items.length} times`];
    return items
      .filter(({ state }) => !["done", "failed", "dropped"].includes(state))
      .map(({ state }) => `${key} was accepted and is still ${state}`);
  });
}

/** No effect twice under one key, unless repeating changes nothing; and what a story asks for once not under two keys either. */
function once({ laterEffect }: Story, lines: readonly Line[], { effects }: Outside): readonly string[] {
  const counted = new Map<string, number>();
  const mild = mildKeys(lines);
  for (const { tool, key, about } of effects) {
    const mayRepeat = tool === "pay" || (laterEffect === "idempotent" && tool === "ring" && mild.has(key));
    // What may be repeated is repeated under its key.
    if (mayRepeat && effects.findIndex((each) => each.tool === tool) !== effects.findIndex((each) => each.key === key))
      return [`${tool} ${about} happened under two keys`];
    if (mayRepeat) continue;
    const name = tool === "write" ? `write ${about} ${key.slice(0, 8)}` : `${tool} ${about}`;
    counted.set(name, (counted.get(name) ?? 0) + 1);
  }
  return [...counted].flatMap(([name, times]) => (times > 1 ? [`${name} happened ${times} times`] : []));
}

/** Keys of actions whose every intent called them harmless to repeat: one that was begun as something else stays that. */
function mildKeys(lines: readonly Line[]): ReadonlySet<string> {
  const effects = new Map<string, boolean>();
  for (const { customType, data } of lines) {
    if (customType !== "holdfast:intent" || !isObject(data)) continue;
    const key = String(data.key);
    effects.set(key, data.effect === "idempotent" && effects.get(key) !== false);
  }
  return new Set([...effects].flatMap(([key, isMild]) => (isMild ? [key] : [])));
}

/**
 * No call has two results, and every call has one: those on the way to where the conversation stands, and those of messages
 * that are called answered. (What two gateways left open between them on a branch that nobody is on waits for whoever goes there.)
 */
function paired(lines: readonly Line[], outside: Outside): readonly string[] {
  const results = new Map<string, number>();
  for (const line of lines) {
    if (!isObject(line.call)) continue;
    const name = `${String(line.call.entryId)}#${String(line.call.ordinal)}`;
    results.set(name, (results.get(name) ?? 0) + 1);
  }
  const current = pathOf(lines, lines.at(-1)?.id);
  const answered = answeredIn(lines, outside);
  const without = lines
    .filter(({ id, answers }) => current.has(id) || (Array.isArray(answers) && answers.some((of) => answered.has(of))))
    .flatMap((line) => callsIn(line).map((_, ordinal) => `${String(line.id)}#${ordinal}`))
    .filter((name) => !results.has(name))
    .map((name) => `call ${name} has no result`);
  const doubled = [...results].flatMap(([name, times]) => (times > 1 ? [`call ${name} has ${times} results`] : []));
  return [...without, ...doubled];
}

/** The ids from here to the beginning. */
function pathOf(lines: readonly Line[], id: unknown): ReadonlySet<unknown> {
  const parents = new Map(lines.map((line) => [line.id, line.parentId]));
  const path = new Set<unknown>();
  for (let at = id; at !== null && at !== undefined && !path.has(at); at = parents.get(at)) path.add(at);
  return path;
}

/** The user entries whose messages are called answered. */
function answeredIn(lines: readonly Line[], { lanes }: Outside): ReadonlySet<unknown> {
  const rows = Object.values(lanes).flat() as unknown as readonly Row[];
  const keys = new Set(rows.filter(({ lane, state }) => lane === "main" && state === "done").map(({ key }) => key));
  const users = lines.filter(
    ({ message }) => isObject(message) && message.role === "user" && keys.has(String(message.key)),
  );
  return new Set(users.map(({ id }) => id));
}

function callsIn({ message }: Line): readonly unknown[] {
  if (!isObject(message) || message.role !== "assistant" || !Array.isArray(message.content)) return [];
  return message.content.filter((block) => isObject(block) && block.type === "toolCall");
}

/**
 * What is said to have happened did; what is said not to have happened did not, under the key of its action. A business act that
 * was absent may have been done since by another call, which then says so.
 */
function honest(lines: readonly Line[], { effects }: Outside): readonly string[] {
  const keys = new Map<string, string>();
  for (const { customType, data } of lines)
    if (customType === "holdfast:intent" && isObject(data)) keys.set(String(data.resultId), String(data.key));
  const said = lines.flatMap(({ id, message }) => {
    const key = keys.get(String(id));
    if (!isObject(message) || message.role !== "toolResult" || key === undefined) return [];
    const holdfast = isObject(message.details) && isObject(message.details.holdfast) ? message.details.holdfast : {};
    const recorded = holdfast.verdict;
    return [{ id: String(id), key, recorded, says: recorded ?? (message.isError === false ? "happened" : "absent") }];
  });
  return said.flatMap(({ id, key, recorded, says }) => {
    const did = effects.filter((effect) => effect.key === key).length;
    const owned = said.filter((other) => other.key === key && other.says === "happened").length;
    if (says === "happened" && did === 0) return [`the result ${id} says happened, and it did not`];
    if (recorded === "absent" && did > owned) return [`the result ${id} says absent, and it happened`];
    return [];
  });
}

/** A part of a reply is sent once at most; twice only where the policy says that an uncertain one is sent again. */
function sentOnce({ platform }: Story, { sent }: Outside): readonly string[] {
  if (platform?.uncertain === "resend") return [];
  const keys = sent.map(({ key }) => key);
  return keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `the reply ${key} was sent twice`);
}

/** A reply that is called sent was, and every reply is called sent or failed. */
function delivered({ lanes, sent }: Outside): readonly string[] {
  const rows = Object.values(lanes).flat() as unknown as readonly Row[];
  return rows.flatMap(({ lane, key, state, body }) => {
    if (lane !== "out") return [];
    if (state !== "done" && state !== "failed") return [`the reply ${key} is still ${state}`];
    const was = sent.some(({ text }) => text === body.reply?.text);
    return state === "done" && !was ? [`the reply ${key} is called sent and was not`] : [];
  });
}

/** Each message is in the log once, however often it was delivered. */
function heardOnce(lines: readonly Line[]): readonly string[] {
  const keys = lines.flatMap(({ message }) =>
    isObject(message) && message.role === "user" && typeof message.key === "string" ? [message.key] : [],
  );
  return keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `${key} was heard twice`);
}

/** What needs a yes has one, for this call, on record before its intent, and in time. */
function allowed(
  { approve = [], decidesAfterMs = 0 }: Story,
  lines: readonly Line[],
  { effects }: Outside,
): readonly string[] {
  return effects.flatMap(({ tool, about, key }) => {
    if (!approve.includes(tool)) return [];
    if (decidesAfterMs > APPROVAL_MS) return [`${tool} ${about} happened after the time for a yes`];
    const at = lines.findIndex(
      ({ customType, data }) => customType === "holdfast:intent" && isObject(data) && data.key === key,
    );
    const before = lines.slice(0, Math.max(0, at));
    const { entryId, ordinal } = (lines[at]?.data ?? {}) as Line;
    const lent = before.find(({ id }) => id === entryId)?.approved;
    const yes = before.some(({ data }) => {
      if (!isObject(data) || data.event !== "decided" || data.decision !== "yes") return false;
      const asked = before.find(({ id }) => id === data.id)?.data as Line | undefined;
      return data.id === lent || (asked?.entryId === entryId && asked?.ordinal === ordinal);
    });
    return yes ? [] : [`${tool} ${about} happened without a yes`];
  });
}

/** A message that is called answered has an answer that names it, and a reply of it was queued. */
function replied(lines: readonly Line[], { lanes }: Outside): readonly string[] {
  const users = new Map(
    lines.flatMap(({ id, message }) =>
      isObject(message) && message.role === "user" ? [[message.key, id] as const] : [],
    ),
  );
  const rows = Object.values(lanes).flat() as unknown as readonly Row[];
  return rows.flatMap(({ lane, key, state, result }) => {
    // A stop or another order of the person has no answer of its own.
    if (lane !== "main" || state !== "done" || typeof result?.entryId !== "string") return [];
    const answer = lines.find(({ id }) => id === result?.entryId);
    const answers = Array.isArray(answer?.answers) && answer.answers.includes(users.get(key));
    const queued = rows.some(({ lane: of, body }) => of === "out" && body.reply?.entryId === result?.entryId);
    return [
      ...(answers ? [] : [`${key} is called answered by something that does not answer it`]),
      ...(queued ? [] : [`${key} is called answered and no reply was queued`]),
    ];
  });
}

/** A stop or a steer that its sender was told of holds back what has not begun. */
function heldBack({ meanwhile = [] }: Story, { effects, toldAfter }: Outside): readonly string[] {
  const late = effects.findIndex(({ about }) => about === "late");
  return meanwhile.flatMap(({ key }) =>
    late >= (toldAfter[key] ?? Number.POSITIVE_INFINITY) ? [`something was begun after ${key} was told`] : [],
  );
}

/** A result stands below its call. */
function inPlace(lines: readonly Line[]): readonly string[] {
  return lines.flatMap(({ id, parentId, call }) =>
    isObject(call) && !pathOf(lines, parentId).has(call.entryId)
      ? [`the result ${String(id)} is not below its call`]
      : [],
  );
}

/** All lines of all transcripts but copies, in file order. */
export function transcriptLines(image: DiskImage): readonly Line[] {
  const directory = image.find(SESSIONS);
  if (directory === undefined) return [];
  const names = image.names.list(directory).map(([name]) => name);
  const files = names.filter((name) => /^[0-9a-f-]{36}\.jsonl$/u.test(name)).map((name) => linesOf(image, name));
  return files.filter(([header]) => header?.parentSession === undefined).flat();
}

function linesOf(image: DiskImage, name: string): readonly Line[] {
  const { cache } = image.inode(image.at(`${SESSIONS}/${name}`)).content;
  // Where a lost line feed has left zeros, what stands before them is there.
  return cache.toString("utf8").replaceAll("\0", "").split("\n").map(tryParse).filter(isObject);
}
