/** `Retry-After` in the forms servers send it. What the watched fetch sees is shown in model.test.ts. */
import { expect, test } from "vitest";
import { retryAfterMs } from "../../../src/model/piai/exchange.ts";

const now = Date.UTC(2026, 10, 30, 12, 0, 0);

test.each<[Record<string, string>, number | null]>([
  [{ "retry-after": "2" }, 2000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "0" }, 0],
  [{ "retry-after": "Mon, 30 Nov 2026 12:00:30 GMT" }, 30_000],
  [{ "retry-after": "Mon, 30 Nov 2026 11:00:00 GMT" }, 0],
  [{ "retry-after": "soon" }, null],
  [{ "retry-after": "" }, null],
  [{ "retry-after-ms": "250", "retry-after": "9" }, 250],
  [{ "retry-after": "9".repeat(400) }, 365 * 86_400_000],
  [{ "retry-after-ms": "1e300" }, 365 * 86_400_000],
  [{ "retry-after-ms": "Infinity", "retry-after": "1" }, 1000],
  [{ "retry-after": "Fri, 31 Dec 9999 23:59:59 GMT" }, 365 * 86_400_000],
  [{}, null],
])("%j is %s ms", (headers, ms) => {
  expect(retryAfterMs(new Headers(headers), now)).toBe(ms);
});
