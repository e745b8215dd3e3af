/** What CLI and dashboard need besides the public door. */
export { type ActionFolders, actionKey } from "./actions/folder.ts";
export { type KeptRequest, type Rebuilding, rebuild } from "./context/report/format.ts";
export type { RequestReport } from "./context/report/report.ts";
export { whyText } from "./context/report/words.ts";
export { readRequests, storedMessage } from "./context/report/request-log.ts";
export { hygienic } from "./context/hygiene/hygiene.ts";
export { type Next, nextStep, type OpenCall, openCalls } from "./next-step.ts";
