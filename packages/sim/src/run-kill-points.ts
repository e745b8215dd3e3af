/** `npm run kill-points [-- <stride>]`: the whole campaign, its table on stdout; exit 1 when a promise broke. */
import { realWorld } from "@holdfast/base";
import { killCampaign } from "./campaign.ts";
import { killRound, pointsOf, tableOf } from "./kill-points.ts";

const world = realWorld(() => {});
const stride = Number(process.argv[2] ?? 1);
const whole = await killRound(world, null);
const rounds = await killCampaign(world, pointsOf(whole.trace.length, stride));
const broken = [whole, ...rounds].filter((round) => round.violations.length > 0);
console.log(tableOf([whole, ...rounds]));
console.log(`\n${rounds.length} kill points of ${whole.trace.length}, ${broken.length} broken`);
process.exitCode = broken.length === 0 ? 0 : 1;
