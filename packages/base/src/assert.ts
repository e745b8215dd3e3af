/** Small checks that turn a broken assumption into a clear stop instead of a wrong result. */

/** Ends a `switch` over a union: the compiler proves it is never reached. */
export function assertNever(value: never): never {
  throw new TypeError(`unreachable value: ${JSON.stringify(value)}`);
}

/** Throws a `TypeError` when `condition` is false: a bug in this program, never bad input. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new TypeError(`assertion failed: ${message}`);
}
