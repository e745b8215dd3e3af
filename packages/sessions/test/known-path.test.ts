/** Following a path entry by entry gives what reading the log from its end gives. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Entry, encodeEntry } from "../src/entry.ts";
import { KnownPath } from "../src/known-path.ts";
import { memorySource } from "../src/reading/source.ts";
import { readTail } from "../src/reading/tail.ts";

const HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z"}\n';
/** How far back in the file the parent stands (0: the entry before), and what the entry is. */
const step = fc.record({ back: fc.constantFrom(0, 0, 0, 1, 3), kind: fc.constantFrom("user", "custom", "compaction") });

function entryAt(index: number, parent: string | null, kind: string): Entry {
  const base = { id: `e${index}`, parentId: parent, timestamp: "2026-01-01T00:00:00.000Z", g: 1 };
  if (kind === "user") return { ...base, type: "message", message: { role: "user", content: `n${index}` } };
  if (kind === "custom" || parent === null) return { ...base, type: "custom", customType: "x" };
  return { ...base, type: "compaction", summary: "s", firstKeptEntryId: parent, tokensBefore: 1 };
}

test("whatever is added, in whatever portions", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 5 }), { maxLength: 8 }), async (portions) => {
      let text = HEADER;
      let path = new KnownPath(await readTail(memorySource(text)));
      let count = 0;
      for (const portion of portions) {
        const added = portion.map(({ back, kind }) => {
          const parent = count - 1 - back;
          const entry = entryAt(count, parent < 0 ? null : `e${parent}`, kind);
          count += 1;
          return entry;
        });
        text += added.map((entry) => `${encodeEntry(entry)}\n`).join("");
        const fresh = await readTail(memorySource(text));
        path = path.after(added) ?? new KnownPath(fresh);
        // What is known may reach further back than what has to be read, never less far.
        const tail = path.loaded.path.slice(path.loaded.path.length - fresh.path.length);
        expect(tail).toEqual(fresh.path);
        expect(path.leaf).toBe(fresh.path.at(-1)?.id ?? null);
        expect([...path.byId.keys()]).toEqual(path.loaded.path.map(({ id }) => id));
      }
    }),
    { numRuns: 200, seed: 20263 },
  );
});
