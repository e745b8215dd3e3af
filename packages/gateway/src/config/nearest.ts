/** The known name that a mistyped one most likely meant. */

/** Edit distance with transpositions (optimal string alignment). */
export function distance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const best = Math.min(above[j]! + 1, row[j - 1]! + 1, above[j - 1]! + same);
      row.push(swapped ? Math.min(best, before[j - 2]! + 1) : best);
    }
    before = above;
    above = row;
  }
  return above[b.length]!;
}

/** The closest of `known`, or undefined when none is close enough to be meant. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(name.length / 3));
  const ranked = known
    .map((candidate) => ({ candidate, far: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ far }) => far <= limit)
    .sort((left, right) => left.far - right.far);
  return ranked[0]?.candidate;
}
