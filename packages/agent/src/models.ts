/** What others need of models: how they are opened, told apart, put in a row, and scripted. */
export { argumentsErrorOf, type InvalidToolCall, modelFailure } from "./model/answers.ts";
export {
  candidatesOf,
  type ModelConfig,
  type OpenModelOptions,
  openModel,
  type ProviderConfig,
} from "./model/open.ts";
export { type ListedModel, listedModel, modelsListed } from "./model/piai/catalog.ts";
export { APIS, PROVIDERS } from "./model/providers.ts";
export { REHEARSAL, rehearsalModel } from "./model/rehearsal.ts";
export { type RestPlace, Rests } from "./model/route/rests.ts";
export type { Candidate } from "./model/route/route.ts";
export { routedModel } from "./model/route/routed.ts";
export {
  act,
  failed,
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedOptions,
  type ScriptedStep,
  say,
  sayAndAct,
  scriptedModel,
  stalled,
} from "./model/scripted.ts";
export type { Spent } from "./spend.ts";
