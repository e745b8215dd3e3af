/** The door to the world. Light to import: zod, fastify and SQLite are loaded when they are first needed. */
export type { ConfigProblem } from "./config/check.ts";
export { checkConfig, describeProblem, loadConfig } from "./config/load.ts";
export type { AgentConfig, Config } from "./config/schema.ts";
export { GATEWAY_ERRORS, GatewayError, type GatewayErrorCode } from "./errors.ts";
export { createGateway, type Gateway, type GatewayOptions, type SendOptions } from "./gateway.ts";
export { findGateway, type RunningGateway } from "./home.ts";
export { type Log, openLog, silentLog } from "./log.ts";
export type { Posted } from "./post.ts";
export type * from "./wire/index.ts";
