/** Random well-formed transcripts: branches, compactions, edits, settings, all types of entries. */
import fc from "fast-check";
import { type Entry, isMessage, toolCallsOf } from "../../src/entry.ts";
import { answer, call, compaction, custom, make, message, result, user } from "./make.ts";

/** One decision: what to write, where to hang it (mostly the leaf), and what it points to. */
interface Choice {
  readonly kind: number;
  readonly jump: number;
  readonly target: number;
  readonly text: string;
}

const choice = fc.record({
  kind: fc.nat({ max: 19 }),
  jump: fc.nat({ max: 99 }),
  target: fc.nat({ max: 999 }),
  text: fc.string({ unit: "binary", maxLength: 12 }),
});

export const transcripts: fc.Arbitrary<readonly Entry[]> = fc.array(choice, { maxLength: 60 }).map(build);

/** As `transcripts`, with images and old kinds of messages, and long enough to hold many features at once. */
const anyChoice = fc.record({
  kind: fc.integer({ min: 0, max: 24 }),
  jump: fc.integer({ min: 0, max: 99 }),
  target: fc.nat({ max: 999 }),
  text: fc.string({ unit: "binary", maxLength: 12 }),
});
const manyChoices = fc.array(fc.noBias(anyChoice), { minLength: 8, maxLength: 60, size: "max" });

export const longTranscripts: fc.Arbitrary<readonly Entry[]> = manyChoices.map(build);

/** Without branches, and without entries that name others but compactions: what version 1 could say. */
export const chains: fc.Arbitrary<readonly Entry[]> = manyChoices.map((all) =>
  build(all.filter(({ kind }) => ![5, 6, 7, 13].includes(kind)).map((one) => ({ ...one, jump: 0 }))),
);

function build(all: readonly Choice[]): readonly Entry[] {
  const entries: Entry[] = [];
  for (const choice of all) {
    const leaf = entries.at(-1);
    const parent = choice.jump < 80 ? leaf : entries[choice.target % Math.max(1, entries.length)];
    const parentId = choice.jump >= 97 ? null : (parent?.id ?? null);
    entries.push(entryOf(choice, `e${entries.length}`, parentId, pathTo(entries, parentId)));
  }
  return entries;
}

/** The newest call on the path, which is given from its end. */
function callOn(path: readonly Entry[]): string | undefined {
  return path.flatMap((entry) => (isMessage(entry) ? toolCallsOf(entry.message).map((one) => one.id) : []))[0];
}

function pathTo(entries: readonly Entry[], from: string | null): readonly Entry[] {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  const path: Entry[] = [];
  for (let at = byId.get(from ?? ""); at !== undefined; at = byId.get(at.parentId ?? "")) path.push(at);
  return path;
}

function entryOf({ kind, target, text }: Choice, id: string, parentId: string | null, path: readonly Entry[]): Entry {
  const picked = path[target % Math.max(1, path.length)]?.id ?? id;
  const replacements = [null, { content: text }, { content: [{ type: "text", text }] }];
  switch (kind) {
    case 0:
    case 1:
      return compaction(
        id,
        parentId,
        target % 7 === 0 ? id : picked,
        target % 3 === 0 ? { systemMessage: { role: "system", content: text } } : {},
      );
    case 2:
      return make("branch_summary", id, parentId, { fromId: picked, summary: text });
    case 3:
      return custom(id, parentId, "state", { text });
    case 4:
      return make("custom_message", id, parentId, { customType: "c", content: text, display: target % 2 === 0 });
    case 5:
      return make("label", id, parentId, { targetId: picked, label: text });
    case 6:
    case 7:
      return make("context_edit", id, parentId, { targetId: picked, replacement: replacements[target % 3] });
    case 8:
      return make("model_change", id, parentId, { provider: "p", modelId: text });
    case 9:
      return make("thinking_level_change", id, parentId, { thinkingLevel: ["off", "low", "high"][target % 3] });
    case 10:
      return call(id, parentId, [`t${id}`, `t${target % 5}`]);
    case 11:
      return result(id, parentId, `t${target % 5}`);
    case 23:
    case 24:
      return result(id, parentId, callOn(path) ?? "t0");
    case 12:
      return message(id, parentId, { role: "system", content: target % 2 === 0 ? text : null });
    case 13:
      return custom(id, parentId, "holdfast:leaf", { from: picked });
    case 14:
      return message(id, parentId, { role: "bashExecution", command: text, output: text, exitCode: target });
    case 15:
      return make("session_info", id, parentId, { name: text });
    case 20:
    case 21:
      return message(id, parentId, {
        role: "user",
        content: [
          { type: "text", text },
          { type: "image", data: "aGk=", mimeType: "image/png" },
        ],
        timestamp: target,
      });
    case 22:
      return message(id, parentId, {
        role: "custom",
        customType: "c",
        content: text,
        display: true,
        timestamp: target,
      });
    case 16:
    case 17:
      return answer(id, parentId, text);
    default:
      return user(id, parentId, text);
  }
}
