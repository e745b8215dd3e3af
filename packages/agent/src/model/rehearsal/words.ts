/**
 * Everything the rehearsal model can say, as one shape with one value per language: a sentence that is missing in one
 * of them does not compile.
 */
import type { Step } from "./conversation.ts";

export interface Words {
  /** One sentence: a rehearsal, no language model, and where a real one is configured. */
  readonly notice: string;
  readonly about: string;
  readonly greeting: string;
  readonly help: string;
  readonly fallback: string;
  readonly outside: string;
  noTool(tool: string): string;

  fileShown(path: string, fenced: string): string;
  readFailed(path: string, why: string): string;
  /** Said after a failure to read the notes. */
  readonly sampleHint: string;
  sampleWritten(path: string): string;
  sampleExists(path: string): string;
  readonly sample: string;

  readonly listHeading: string;
  todosFound(path: string, list: string): string;
  todosNone(path: string): string;
  saved(path: string, list: string): string;
  notSaved(path: string, why: string): string;
  readonly permissionHint: string;
  readonly retryHint: string;

  splitDone(which: number, item: string, list: string): string;
  splitWhich(list: string): string;
  splitMissing(which: number, list: string): string;
  noList(path: string): string;

  remembered(fact: string, path: string): string;
  notRemembered(why: string): string;
  memoryTooLarge(path: string): string;
  recalled(path: string, list: string): string;
  readonly nothingRemembered: string;

  ran(command: string, fenced: string): string;
  runFailed(command: string, fenced: string): string;

  /** Before the lines of `settled`. */
  readonly settledHeading: string;
  settled(action: string, step: Step): string;
  /** Instead of the usual answer when an action's outcome is open. */
  undecided(action: string): string;
  readonly nothingOpen: string;
  readonly nothingToRetry: string;
}
