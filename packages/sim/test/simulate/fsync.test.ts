/** The policies `turn` and `never` on the simulated disk. `HOLDFAST_LARGE=1` looks at every operation. */
import { expect, test } from "vitest";
import { enumerate } from "../../src/simulate/enumerate.ts";
import { FSYNC_SCENARIOS } from "../../src/simulate/fsync-scenarios.ts";
import { withoutSync } from "../../src/simulate/mutants.ts";

const STRIDE = process.env.HOLDFAST_LARGE === "1" ? 1 : 13;
const MINUTE = 60_000;

test.each(FSYNC_SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
  "%s: what it promises is kept, wherever it goes wrong",
  async (_name, scenario) => {
    const some = await enumerate(scenario, { seed: 1, stride: STRIDE });
    expect(some.violations).toEqual([]);
    expect(some.deaths).toBeGreaterThan(2);
  },
  MINUTE,
);

test("the checker sees where `turn` syncs nothing", async () => {
  const scenario = FSYNC_SCENARIOS.find(({ name }) => name === "append, fsync turn");
  if (scenario === undefined) throw new TypeError("no such scenario");
  const { violations } = await enumerate(scenario, { seed: 1, disk: withoutSync, stride: 9, untilBroken: true });
  expect(violations.flatMap(({ what }) => what).join("\n")).toMatch(/was acknowledged and is not there/);
});
