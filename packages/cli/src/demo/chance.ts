/** Chance from a seed: the same number gives the same story on every machine. Pure apart from the generator's own state. */
export interface Chance {
  /** In [0, 1). */
  next(): number;
  /** One of them. */
  pick<T>(values: readonly T[]): T;
  /** `count` different ones, in a shuffled order. */
  some<T>(values: readonly T[], count: number): readonly T[];
}

/** mulberry32: small, and good enough to choose a story. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const some = <T>(values: readonly T[], count: number): readonly T[] => {
    const left = [...values];
    return Array.from(
      { length: Math.min(count, left.length) },
      () => left.splice(Math.floor(next() * left.length), 1)[0]!,
    );
  };
  return { next, some, pick: (values) => some(values, 1)[0]! };
}
