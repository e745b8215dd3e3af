/**
 * A second fault at every fifth operation of every recovery, after every first one, shared among worker processes. Only with
 * `HOLDFAST_LARGE=1`: minutes. `npm run simulate` has all operations.
 */
import { expect, test } from "vitest";
import { ALL_SCENARIOS } from "../../src/simulate/all-scenarios.ts";
import { enumerateAll } from "../../src/simulate/parts.ts";
import { tableOf } from "../../src/simulate/table.ts";

const MINUTES = 60_000;

const STRIDE = 5;
/** What takes longest has one at every so many operations of each recovery. */
const STRIDES: Readonly<Record<string, number>> = { retention: 20, "index beside the transcript": 50 };

test.runIf(process.env.HOLDFAST_LARGE === "1")(
  "no promise breaks, wherever it goes wrong twice",
  async () => {
    const names = ALL_SCENARIOS.map(({ name }) => name);
    const rows = await enumerateAll(
      names.filter((name) => STRIDES[name] === undefined),
      { seed: 1, secondStride: STRIDE },
    );
    for (const [name, secondStride] of Object.entries(STRIDES)) {
      rows.push(...(await enumerateAll([name], { seed: 1, secondStride }, { parts: 2 })));
    }
    console.log(tableOf(rows));
    expect(rows.flatMap(({ violations }) => violations)).toEqual([]);
    for (const row of rows) expect(row.second, row.scenario).toBeGreaterThan(5_000);
  },
  20 * MINUTES,
);
