import { mkdir, mkdtemp, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { needsBuild, programIsStale } from "../build-once.ts";

const NOW_S = 1_800_000_000;
const SOURCES = ["src/ui/app.tsx", "public/mark.svg", "index.html", "vite.config.ts", "package.json"];

/** A dashboard whose sources are `sourceS` seconds old and, if given, whose build is `buildS` seconds old. */
async function dashboardOf(sourceS: number, buildS: number | null): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), "holdfast-once-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const directory of ["src/ui", "public", "dist"]) await mkdir(join(root, directory), { recursive: true });
  for (const name of SOURCES) await writeFile(join(root, name), "");
  if (buildS !== null) await writeFile(join(root, "dist/index.html"), "");
  for (const name of [...SOURCES, "src/ui", "src", "public"])
    await utimes(join(root, name), NOW_S - sourceS, NOW_S - sourceS);
  if (buildS !== null) await utimes(join(root, "dist/index.html"), NOW_S - buildS, NOW_S - buildS);
  return root;
}

test("builds when nothing is built", async () => {
  expect(needsBuild(await dashboardOf(100, null))).toBe(true);
});

test("does not build what is newer than its sources", async () => {
  expect(needsBuild(await dashboardOf(100, 50))).toBe(false);
});

test.each([...SOURCES, "src/ui"])("builds when %s is newer", async (name) => {
  const root = await dashboardOf(100, 50);
  await utimes(join(root, name), NOW_S - 10, NOW_S - 10);
  expect(needsBuild(root)).toBe(true);
});

test("the program is stale without a stamp, and when one of its sources is newer than it", async () => {
  const root = await mkdtemp(join(tmpdir(), "holdfast-once-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const source = join(root, "packages/agent/src/deep/turn.ts");
  await mkdir(join(root, "packages/agent/src/deep"), { recursive: true });
  await mkdir(join(root, "packages/cli/dist"), { recursive: true });
  await writeFile(source, "");
  expect(programIsStale(root)).toBe(true);
  await writeFile(join(root, "packages/cli/dist/.built"), "");
  for (const path of [source, join(source, ".."), join(source, "../.."), join(root, "packages/cli/dist/.built")])
    await utimes(path, NOW_S, NOW_S);
  expect(programIsStale(root)).toBe(false);
  await utimes(source, NOW_S + 5, NOW_S + 5);
  expect(programIsStale(root)).toBe(true);
});
