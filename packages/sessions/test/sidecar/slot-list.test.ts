/** A list of slots against a plain array; the way by id against a plain map. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { IdTable, SlotList } from "../../src/sidecar/slot-list.ts";
import { emptySlot, hashOf } from "../../src/sidecar/slots.ts";

test("what was pushed is there, and the last node of an id is found", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 400 }), { maxLength: 600 }), fc.nat({ max: 100 }), (numbers, expected) => {
      const slots = new SlotList();
      const ids = new IdTable(slots, expected);
      const last = new Map<string, number>();
      for (const [node, number] of numbers.entries()) {
        const id = `e${number}`;
        slots.push({
          ...emptySlot(),
          id: hashOf(id),
          offset: node * 7,
          length: number,
          kind: number % 12,
          link: number % 3,
        });
        ids.put(node);
        last.set(id, node);
      }
      expect(slots.count).toBe(numbers.length);
      for (let number = 0; number <= 400; number++) {
        const { low, high } = hashOf(`e${number}`);
        expect(ids.find(low, high)).toBe(last.get(`e${number}`) ?? -1);
      }
      for (const [node, number] of numbers.entries()) {
        const read = [
          slots.offsetOf(node),
          slots.lengthOf(node),
          slots.kindOf(node),
          slots.linkOf(node),
          slots.timeOf(node),
        ];
        expect(read).toEqual([node * 7, number, number % 12, number % 3, Number.NaN]);
        expect([slots.isIdOf(node, `e${number}`), slots.isIdOf(node, "other")]).toEqual([true, false]);
      }
    }),
    { seed: 11, numRuns: 50 },
  );
});

test("slots that were kept are taken over", () => {
  const first = new SlotList();
  first.push({ ...emptySlot(), offset: 5 });
  const again = new SlotList(first.words.slice(0, 10));
  again.push({ ...emptySlot(), offset: 9 });
  expect([again.count, again.offsetOf(0), again.offsetOf(1)]).toEqual([2, 5, 9]);
});
