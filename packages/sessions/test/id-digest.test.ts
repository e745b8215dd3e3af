/** The digest of ids never denies one that is there. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { IdDigest } from "../src/id-digest.ts";
import { memorySource } from "../src/reading/source.ts";

const id = fc.string({ minLength: 1, maxLength: 20 });

test("every id of the log may be there; others almost never", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(id), fc.array(id), async (there, asked) => {
      const lines = there.map((one) => JSON.stringify({ type: "custom", id: one, parentId: null, customType: "x" }));
      const digest = await IdDigest.read(memorySource(["not json", ...lines].join("\n")));
      for (const one of there) expect(digest.mayHold(one)).toBe(true);
      for (const one of asked) expect(digest.mayHold(one)).toBe(there.includes(one));
    }),
    { numRuns: 100, seed: 20262 },
  );
});
