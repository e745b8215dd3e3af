/**
 * What must be true when a story is over, whatever happened in it. Facts come from the world, the platform, the clients and
 * the bytes of the transcript, never from the product's own opinion.
 */
import { isObject, tryParse } from "@holdfast/base";
import type { DiskImage } from "../disk/image.ts";
import { SESSIONS, type Story } from "./life.ts";
import { type Outside, outsideOf } from "./outside.ts";

interface Row {
  readonly lane: string;
  readonly key: string;
  readonly state: string;
}

export function brokenIn(story: Story, image: DiskImage): readonly string[] {
  const outside = outsideOf(image);
  const lines = transcriptLines(image);
  return [...kept(story, outside), ...once(outside), ...paired(lines), ...honest(lines, outside), ...sentOnce(outside)];
}

/** A message whose sender was told is answered or visibly failed. */
function kept({ messages, meanwhile = [] }: Story, { told, rows }: Outside): readonly string[] {
  const items = rows as readonly Row[];
  return [...messages, ...meanwhile].flatMap(({ key }) => {
    if (!told.includes(key)) return [];
    const item = items.find((row) => row.lane === "main" && row.key === key);
    if (item === undefined) return [`${key} was accepted and is lost`];
    return ["done", "failed", "dropped"].includes(item.state) ? [] : [`${key} was accepted and is still ${item.state}`];
  });
}

/** No effect twice under one key, unless repeating changes nothing; and what a story asks for once not under two keys either. */
function once({ effects }: Outside): readonly string[] {
  const counted = new Map<string, number>();
  for (const { tool, key, about } of effects) {
    if (tool === "pay") continue;
    const name = tool === "write" ? `write ${about} ${key.slice(0, 8)}` : `${tool} ${about}`;
    counted.set(name, (counted.get(name) ?? 0) + 1);
  }
  return [...counted].flatMap(([name, times]) => (times > 1 ? [`${name} happened ${times} times`] : []));
}

/** Every call has one result. */
function paired(lines: readonly Record<string, unknown>[]): readonly string[] {
  const results = new Map<string, number>();
  for (const line of lines) {
    if (!isObject(line.call)) continue;
    const name = `${String(line.call.entryId)}#${String(line.call.ordinal)}`;
    results.set(name, (results.get(name) ?? 0) + 1);
  }
  const calls = lines.flatMap((line) => callsIn(line).map((_, ordinal) => `${String(line.id)}#${ordinal}`));
  const without = calls.filter((name) => !results.has(name)).map((name) => `call ${name} has no result`);
  const doubled = [...results].flatMap(([name, times]) => (times > 1 ? [`call ${name} has ${times} results`] : []));
  return [...without, ...doubled];
}

function callsIn({ message }: Record<string, unknown>): readonly unknown[] {
  if (!isObject(message) || message.role !== "assistant" || !Array.isArray(message.content)) return [];
  return message.content.filter((block) => isObject(block) && block.type === "toolCall");
}

/** What is said to have happened did; what is said not to have happened did not, under the key of its action. */
function honest(lines: readonly Record<string, unknown>[], { effects }: Outside): readonly string[] {
  const keys = new Map<string, string>();
  for (const { customType, data } of lines)
    if (customType === "holdfast:intent" && isObject(data)) keys.set(String(data.resultId), String(data.key));
  return lines.flatMap((line) => {
    const { message } = line;
    const key = keys.get(String(line.id));
    if (!isObject(message) || message.role !== "toolResult" || key === undefined) return [];
    const did = effects.some((effect) => effect.key === key);
    const holdfast = isObject(message.details) && isObject(message.details.holdfast) ? message.details.holdfast : {};
    const says = holdfast.verdict ?? (message.isError === false ? "happened" : "absent");
    if (says === "happened" && !did) return [`the result ${String(line.id)} says happened, and it did not`];
    if (says === "absent" && did && holdfast.verdict === "absent")
      return [`the result ${String(line.id)} says absent, and it happened`];
    return [];
  });
}

/** A platform without keys of its own gets each part of a reply at most once. */
function sentOnce({ sent }: Outside): readonly string[] {
  const keys = sent.map(({ key }) => key);
  return keys.filter((key, index) => keys.indexOf(key) !== index).map((key) => `the reply ${key} was sent twice`);
}

function transcriptLines(image: DiskImage): readonly Record<string, unknown>[] {
  const directory = image.find(SESSIONS);
  if (directory === undefined) return [];
  const names = image.names.list(directory).map(([name]) => name);
  return names
    .filter((name) => /^[0-9a-f-]{36}\.jsonl$/u.test(name))
    .flatMap((name) =>
      image
        .inode(image.at(`${SESSIONS}/${name}`))
        .content.cache.toString("utf8")
        .split("\n"),
    )
    .map(tryParse)
    .filter(isObject);
}
