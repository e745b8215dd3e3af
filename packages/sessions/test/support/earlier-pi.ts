/** Pi 0.75.4 as a second judge, in a file of its own: it takes long to load. */
import { SessionManager } from "pi-coding-agent-0-75";
import { contextBy, type PiContext } from "./pi.ts";

/** What it builds from a file; with `leaf`, after moving there. */
export function earlierPiContext(path: string, leaf?: string): Promise<PiContext> {
  return contextBy(SessionManager, path, leaf);
}
