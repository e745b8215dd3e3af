/** Campaigns that break Holdfast from outside and check its promises. Never shipped. */
export { startGatewayChild, writeCampaignHome } from "./gateway-child.ts";
export { inspectHome, violationsOf } from "./home-facts.ts";
export { type KillRound, killRound, pointsOf, tableOf } from "./kill-points.ts";
export { type ModelServer, type Plan, startModelServer } from "./model-server.ts";
export { killCampaign } from "./campaign.ts";
