/** What came after an entry, asked again and again while the log grows: always what a reader who never asked before gets. */
import { appendFile, readFile, writeFile } from "node:fs/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { openSessions } from "@holdfast/sessions";
import { testDirectory } from "./support/directories.ts";

const KEY = "agent:main:since";

type Step =
  | { readonly kind: "append"; readonly who: 0 | 1; readonly count: number }
  | { readonly kind: "line"; readonly text: string }
  | { readonly kind: "again" }
  | { readonly kind: "ask"; readonly back: number };

const line = fc.constantFrom(
  "",
  "{}\n",
  "not json\n",
  '{"type":"label"',
  "\n",
  '{"type":"custom","customType":"holdfast:fence"}\n',
);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("append" as const),
    who: fc.constantFrom(0 as const, 1 as const),
    count: fc.integer({ min: 1, max: 3 }),
  }),
  fc.record({ kind: fc.constant("line" as const), text: line }),
  fc.record({ kind: fc.constant("again" as const) }),
  fc.record({ kind: fc.constant("ask" as const), back: fc.nat(6) }),
);

test("as a fresh reader, whoever writes and whatever the lines are; also after the file was put back to what it was", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 14 }), async (steps) => {
      await using directory = await testDirectory();
      const open = () => openSessions({ directory: directory.path, fsync: "never", onProblem: () => {} });
      await using one = await open();
      await using other = await open();
      const sessions = [await one.open(KEY), await other.open(KEY)] as const;
      await sessions[0].append({ type: "custom", customType: "x", data: 0 });
      const file = sessions[0].file!;
      const saved = await readFile(file);
      const ids: (string | null)[] = [null];
      for (const each of steps) {
        if (each.kind === "append") {
          const entries = Array.from(
            { length: each.count },
            (_, data) => ({ type: "custom", customType: "x", data }) as const,
          );
          // Refused once the file was put back: then nothing was written.
          const appended = await sessions[each.who].append(entries).catch(() => null);
          ids.push(...(appended?.entries ?? []).map(({ id }) => id));
        }
        if (each.kind === "line") await appendFile(file, each.text);
        if (each.kind === "again") {
          await writeFile(file, saved);
          ids.length = 1;
          for (const session of sessions) await session.catchUp().catch(() => undefined);
        }
        const id = ids.at(-1 - (each.kind === "ask" ? each.back % ids.length : 0))!;
        await using readers = await open();
        await using fresh = await readers.open(KEY);
        const expected = await fresh.since(id).catch((error: { code: string }) => error.code);
        for (const session of sessions)
          expect(await session.since(id).catch((error: { code: string }) => error.code)).toEqual(expected);
      }
      for (const session of sessions) await session.close();
    }),
    { numRuns: process.env.HOLDFAST_LARGE === "1" ? 200 : 15 },
  );
});
