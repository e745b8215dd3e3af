/** Pi 1.6.0 as the judge. Always on a copy: it rewrites old files when it opens them, and seals torn tails. */
import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";

export interface PiContext {
  readonly messages: readonly unknown[];
  readonly model: unknown;
  readonly thinkingLevel: string;
}

/** What Pi builds from a file; with `leaf`, after moving there. */
export function piContext(path: string, leaf?: string): Promise<PiContext> {
  return contextBy(SessionManager, path, leaf);
}

interface Opens {
  open(path: string): { branch(leaf: string): void; buildSessionContext(): PiContext };
}

/** The same by any Pi. */
export async function contextBy(pi: Opens, path: string, leaf: string | undefined): Promise<PiContext> {
  const directory = await mkdtemp(join(tmpdir(), "holdfast-pi-"));
  try {
    const copy = join(directory, "copy.jsonl");
    await copyFile(path, copy);
    const manager = pi.open(copy);
    if (leaf !== undefined) manager.branch(leaf);
    return manager.buildSessionContext();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
