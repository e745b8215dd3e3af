/** Turn rights against a simple model: whatever happens, the number only grows and at most one holder is in force. */
import { identityOf } from "@holdfast/base";
import fc from "fast-check";
import { expect, test } from "vitest";
import { claim, holderLiveness, isStale, NO_RIGHTS, parseRights, type Rights, release, renew } from "../src/rights.ts";
import type { Right } from "../src/types.ts";

const LEASE_MS = 100;
type Step =
  | { readonly kind: "claim" | "die"; readonly holder: string }
  | { readonly kind: "renew" | "release"; readonly which: number }
  | { readonly kind: "wait"; readonly ms: number };

const holder = fc.constantFrom("a", "b", "c");
const steps = fc.array(
  fc.oneof<fc.Arbitrary<Step>[]>(
    fc.record({ kind: fc.constantFrom("claim" as const, "die" as const), holder }),
    fc.record({ kind: fc.constantFrom("renew" as const, "release" as const), which: fc.nat(5) }),
    fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(150) }),
  ),
  { maxLength: 40 },
);

test("the number only grows; a right is taken only after its lease or from the dead", () => {
  fc.assert(
    fc.property(steps, (all) => {
      let rights: Rights = NO_RIGHTS;
      let nowMs = 1000;
      const given: Right[] = [];
      const dead = new Set<string>();
      // The model: who is in force, and until when.
      let force: { t: number; holder: string; untilMs: number } | undefined;
      for (const step of all) {
        const before = rights.t;
        const right = "which" in step ? given.at(-1 - (step.which % Math.max(1, given.length))) : undefined;
        if (step.kind === "wait") nowMs += step.ms;
        else if (step.kind === "die") dead.add(step.holder);
        else if (step.kind === "claim") {
          const free = force === undefined || force.untilMs <= nowMs || dead.has(force.holder);
          const asked = { session: "s", holder: step.holder, leaseMs: LEASE_MS, nowMs };
          const outcome = claim(rights, asked, (who) => (dead.has(who) ? "dead" : "unknown"));
          expect(outcome.claim.kind).toBe(free ? "claimed" : "held");
          rights = outcome.rights;
          if (outcome.claim.kind === "claimed") {
            given.push(outcome.claim.right);
            force = { t: rights.t, holder: step.holder, untilMs: nowMs + LEASE_MS };
            dead.delete(step.holder);
          }
        } else if (right !== undefined && step.kind === "renew") {
          const renewed = renew(rights, right, nowMs + LEASE_MS);
          expect(renewed !== undefined).toBe(force?.t === right.t);
          if (renewed !== undefined && force !== undefined) force = { ...force, untilMs: nowMs + LEASE_MS };
          rights = renewed ?? rights;
        } else if (right !== undefined) {
          rights = release(rights, right);
          if (force?.t === right.t) force = undefined;
        }
        expect(rights.t).toBeGreaterThanOrEqual(before);
        for (const one of given) expect(isStale(rights, one.t)).toBe(one.t < rights.t);
        expect(parseRights(JSON.parse(JSON.stringify(rights)))).toEqual(rights);
      }
    }),
    { numRuns: 300, seed: 20261 },
  );
});

test("a lease that ends later than any could, because the clock was set back, holds nobody up; clocks may differ a little", () => {
  const asked = { session: "s", holder: "a", leaseMs: LEASE_MS, nowMs: 3_600_000 };
  const { rights } = claim(NO_RIGHTS, asked, () => "alive");
  const later = (nowMs: number) => claim(rights, { ...asked, holder: "b", nowMs }, () => "alive").claim.kind;
  expect([later(3_600_000 - 60_000), later(0)]).toEqual(["held", "claimed"]);
});

test.each([undefined, null, "x", {}, { g: 1 }, { g: "1", t: 1 }, { g: 1.5, t: 1 }])(
  "%j is no record of rights",
  (value) => {
    expect(parseRights(value)).toBeUndefined();
  },
);

test("a damaged lease is none, the numbers stay", () => {
  expect(parseRights({ g: 3, t: 4, lease: { holder: 1 } })).toEqual({ g: 3, t: 4, lease: null, writer: "" });
  const doubted = { ...NO_RIGHTS, doubtfulFrom: 120 };
  expect(parseRights(JSON.parse(JSON.stringify(doubted)))).toEqual(doubted);
  expect(parseRights({ ...NO_RIGHTS, doubtfulFrom: "120" })).toEqual(NO_RIGHTS);
});

test("a holder is alive where it proves to be; one that is no identity is neither alive nor dead", () => {
  expect(holderLiveness(JSON.stringify(identityOf("here")))).toBe("alive");
  expect(holderLiveness("somebody")).toBe("unknown");
  expect(holderLiveness('{"pid":1}')).toBe("unknown");
});
