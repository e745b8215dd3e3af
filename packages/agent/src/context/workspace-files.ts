/**
 * The workspace files that people use to tell the agent who it is and what it knows; they go into the system prompt.
 * Invariant: a file that is missing or cannot be read never stops a turn; one that is too long is cut, and says so.
 */
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf } from "@holdfast/base";

export const WORKSPACE_FILES = ["AGENTS.md", "SOUL.md", "USER.md", "MEMORY.md"] as const;
const FILE_CHARS_MAX = 20_000;

export interface WorkspaceFile {
  readonly name: string;
  /** At most 20,000 characters, with a note where something was cut. */
  readonly text: string;
}

/** Those that exist and are not empty, in the order of the list. */
export async function workspaceFiles(workspace: string): Promise<readonly WorkspaceFile[]> {
  const found = await Promise.all(WORKSPACE_FILES.map((name) => readOne(workspace, name)));
  return found.filter((file) => file !== undefined);
}

async function readOne(workspace: string, name: string): Promise<WorkspaceFile | undefined> {
  const path = join(workspace, name);
  try {
    const is = await lstat(path);
    if (!is.isFile()) return is.isSymbolicLink() ? { name, text: "(not read: it is a symbolic link)" } : undefined;
    const text = (await readFile(path, "utf8")).trim();
    return text === "" ? undefined : { name, text: cut(text, name) };
  } catch (error) {
    const code = errnoOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (code === undefined) throw error;
    return { name, text: `(not readable: ${code})` };
  }
}

function cut(text: string, name: string): string {
  if (text.length <= FILE_CHARS_MAX) return text;
  const left = text.length - FILE_CHARS_MAX;
  return `${text.slice(0, FILE_CHARS_MAX).toWellFormed()}\n(cut here: ${left} more characters; read ${name} for the rest)`;
}
