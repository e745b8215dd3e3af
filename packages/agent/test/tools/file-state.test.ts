/** A file's state is that of the very file that was judged. */
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readState } from "../../src/tools/file-state.ts";

test("a link in the place of the file is not followed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "holdfast-state-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "secret"), "secret");
  expect((await readState(join(folder, "secret"))).state).toMatchObject({ exists: true, size: 6 });
  await symlink(join(folder, "secret"), join(folder, "link"));
  await expect(readState(join(folder, "link"))).rejects.toMatchObject({ code: "ELOOP" });
});
