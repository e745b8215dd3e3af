/**
 * A second fault at every operation of every recovery, after every first one, shared among worker processes. Only with
 * `HOLDFAST_LARGE=1`: minutes.
 */
import { expect, test } from "vitest";
import { ALL_SCENARIOS } from "../../src/simulate/all-scenarios.ts";
import { enumerateAll } from "../../src/simulate/parts.ts";
import { tableOf } from "../../src/simulate/table.ts";

const MINUTES = 60_000;

test.runIf(process.env.HOLDFAST_LARGE === "1")(
  "no promise breaks, wherever it goes wrong twice",
  async () => {
    const rows = await enumerateAll(
      ALL_SCENARIOS.map(({ name }) => name),
      { seed: 1, secondStride: 1 },
    );
    console.log(tableOf(rows));
    expect(rows.flatMap(({ violations }) => violations)).toEqual([]);
    for (const row of rows) expect(row.second, row.scenario).toBeGreaterThan(50_000);
  },
  20 * MINUTES,
);
