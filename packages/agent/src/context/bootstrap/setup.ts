/**
 * Whether a workspace is set up: BOOTSTRAP.md, which leads through it, is given only until then. Pure.
 * Nobody has to say that it is done: the agent deletes the file at the end, and what has been written before shows it too.
 */
import type { Found, FoundFile } from "./files.ts";
import { isMemory, SETUP_FILE } from "./kinds.ts";
import { isTemplate } from "./templates.ts";

/** These say who is who; once one of them is not as it was delivered, somebody has said so. */
const TELLING: readonly string[] = ["SOUL.md", "IDENTITY.md", "USER.md"];

export function isSetUp({ files }: Pick<Found, "files">): boolean {
  return !files.some(({ name }) => name === SETUP_FILE) || files.some(shows);
}

function shows({ name, text }: FoundFile): boolean {
  if (isMemory(name)) return true;
  return TELLING.includes(name) && !isTemplate(name, text);
}

/** What was found, without the guide where it has done its work. */
export function withoutOldSetup(found: Found): Found {
  if (!isSetUp(found)) return found;
  return { ...found, files: found.files.filter(({ name }) => name !== SETUP_FILE) };
}
