/** Slots hold what was put into them, at the limits too. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  emptySlot,
  hashOf,
  isStampOf,
  KINDS,
  kindAt,
  lengthAt,
  linkAt,
  offsetAt,
  putSlot,
  SLOT_WORDS,
  STAMP_KIND,
  stampOf,
  sumAt,
  timeAt,
} from "../../src/sidecar/slots.ts";

const big = fc.bigInt({ min: 0n, max: 2n ** 63n });

test("what is put into a slot comes out of it", () => {
  fc.assert(
    fc.property(
      fc.record({
        kind: fc.nat({ max: KINDS.length - 1 }),
        link: fc.nat({ max: 2 }),
        offset: fc.nat({ max: 2 ** 47 }),
        length: fc.nat({ max: 2 ** 32 - 1 }),
        timeMs: fc.oneof(fc.nat({ max: 2 ** 47 - 1 }), fc.constant(Number.NaN)),
      }),
      fc.nat({ max: 3 }),
      (given, at) => {
        const words = new Uint32Array(SLOT_WORDS * 4);
        putSlot(words, at * SLOT_WORDS, { ...emptySlot(), ...given });
        const from = at * SLOT_WORDS;
        expect([kindAt(words, from), linkAt(words, from)]).toEqual([given.kind, given.link]);
        expect([offsetAt(words, from), lengthAt(words, from)]).toEqual([given.offset, given.length]);
        expect(timeAt(words, from)).toBe(given.timeMs);
      },
    ),
    { seed: 1 },
  );
});

test("a stamp names one state of one file", () => {
  fc.assert(
    fc.property(big, big, big, fc.nat({ max: 2 ** 47 }), fc.nat({ max: 2 ** 32 - 1 }), (a, b, c, size, sum) => {
      const mark = { dev: 5n, ino: a, size, mtimeNs: b, ctimeNs: c };
      const stamp = stampOf(mark, sum);
      expect([kindAt(stamp, 0), sumAt(stamp, 0), isStampOf(stamp, 0, mark)]).toEqual([STAMP_KIND, sum, true]);
      for (const other of [
        { ...mark, dev: 6n },
        { ...mark, ino: a + 1n },
        { ...mark, size: size + 1 },
        { ...mark, mtimeNs: b + 1n },
        { ...mark, ctimeNs: c + 1n },
      ]) {
        expect(isStampOf(stamp, 0, other)).toBe(false);
      }
    }),
    { seed: 2 },
  );
});

test("forty thousand ids have as many hashes", () => {
  const hashes = new Set<string>();
  for (let n = 0; n < 20_000; n++) {
    for (const id of [`e${n}`, n.toString(16).padStart(16, "0")]) {
      const { low, high } = hashOf(id);
      hashes.add(`${low} ${high}`);
    }
  }
  expect(hashes.size).toBe(40_000);
});
