/** Temporary homes, removed when the test ends. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export async function temporaryHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "holdfast-gateway-"));
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}
