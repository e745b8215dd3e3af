/** What CLI and dashboard need besides the public door. */
export { type ActionFolders, actionKey } from "./actions/folder.ts";
export { hygienic } from "./context/hygiene/hygiene.ts";
export { type Next, nextStep, type OpenCall, openCalls } from "./next-step.ts";
