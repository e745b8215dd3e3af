/**
 * The gateway is killed at its fault points during one turn and started again. Plain `npm test` takes a part of the points,
 * `HOLDFAST_LARGE=1` (as .ci/run sets it) all of them; `npm run kill-points` prints the table.
 */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { realWorld } from "@holdfast/base";
import { contextOfTranscript } from "@holdfast/sessions/internal";
import { describe, expect, test } from "vitest";
import { killCampaign } from "../src/campaign.ts";
import { killRound, pointsOf, tableOf } from "../src/kill-points.ts";

const LARGE = process.env.HOLDFAST_LARGE === "1";
const STRIDE = LARGE ? 1 : 16;
const MINUTES = 60_000;

/** Pi opens a copy (it rewrites what it opens) and must see the same messages as we do. */
async function piAgrees(transcript: string): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-pi-"));
  const copy = join(folder, "copy.jsonl");
  await copyFile(transcript, copy);
  const theirs = SessionManager.open(copy).buildSessionContext().messages;
  const ours = (await contextOfTranscript(transcript)).messages;
  await rm(folder, { recursive: true, force: true });
  return JSON.stringify(ours) === JSON.stringify(theirs) ? [] : ["Pi builds another context from the transcript"];
}

describe("kill points", () => {
  test(
    "a turn with two tools keeps its promises wherever the gateway is killed",
    async () => {
      const world = realWorld(() => {});
      const whole = await killRound(world, null, piAgrees);
      expect(whole.violations).toEqual([]);
      expect(whole.trace.length).toBeGreaterThanOrEqual(40);
      const points = pointsOf(whole.trace.length, STRIDE);
      const rounds = await killCampaign(world, points, piAgrees);
      expect(rounds.filter((round) => round.killed).length, "points at which the gateway really died").toBe(
        rounds.length,
      );
      expect(
        rounds.filter((round) => round.violations.length > 0),
        tableOf(rounds),
      ).toEqual([]);
    },
    15 * MINUTES,
  );
});
