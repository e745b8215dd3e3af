/**
 * The package as others get it: built, packed, installed without a network into an empty project, where the guide's programs
 * type-check and print what the guide says. Takes a build and an installation, so it runs with HOLDFAST_LARGE=1.
 */
import { execFile } from "node:child_process";
import { cp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { testDirectory } from "./support/directories.ts";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const NODE = process.execPath;
const run = promisify(execFile);
const npm = (args: readonly string[], cwd: string) =>
  run("npm", [...args], { cwd, env: { ...process.env, PATH: `${dirname(NODE)}:${process.env.PATH}` } });

const COMPILER = {
  compilerOptions: {
    module: "nodenext",
    target: "esnext",
    strict: true,
    noEmit: true,
    types: ["node"],
    lib: ["esnext"],
  },
  include: ["*.ts"],
};

async function install(project: string): Promise<void> {
  await run(NODE, [join(ROOT, "node_modules/typescript/bin/tsc"), "-b", "packages/sessions"], { cwd: ROOT });
  const packed = ["pack", "-w", "@holdfast/base", "-w", "@holdfast/sessions", "--pack-destination", project];
  await npm([...packed, "--ignore-scripts"], ROOT);
  const files = (await readdir(project)).filter((name) => name.endsWith(".tgz")).map((name) => `./${name}`);
  expect(files).toHaveLength(2);
  await writeFile(join(project, "package.json"), JSON.stringify({ name: "mine", version: "1.0.0", type: "module" }));
  await npm(["install", "--offline", "--no-audit", "--no-fund", "--ignore-scripts", ...files], project);
  expect((await readdir(join(project, "node_modules/@holdfast"))).toSorted()).toEqual(["base", "sessions"]);
}

test.runIf(process.env.HOLDFAST_LARGE === "1")(
  "packed and installed alone, it does what the guide says",
  async () => {
    await using project = await testDirectory();
    await install(project.path);
    await cp(join(ROOT, "examples/sessions"), project.path, { recursive: true });
    await cp(join(ROOT, "examples/remember.ts"), join(project.path, "remember.ts"));
    const guide = await readFile(join(ROOT, "docs/guide/sessions.md"), "utf8");
    for (const name of await readdir(join(ROOT, "examples/sessions"))) {
      await using place = await testDirectory();
      const { stdout, stderr } = await run(NODE, [join(project.path, name)], { cwd: place.path });
      expect([guide.includes(`prints\n\n\`\`\`text\n${stdout}\`\`\`\n`), stderr], name).toEqual([true, ""]);
    }
    const kept = await run(NODE, [join(project.path, "remember.ts"), join(project.path, "kept")]);
    expect(kept.stdout).toMatch(/^new conversation, .*durable: true\nuser: hello\n$/);
    await symlink(join(ROOT, "node_modules/@types"), join(project.path, "node_modules/@types"));
    await writeFile(join(project.path, "tsconfig.json"), JSON.stringify(COMPILER));
    const tsc = run(NODE, [join(ROOT, "node_modules/typescript/bin/tsc"), "-p", "."], { cwd: project.path });
    expect(await tsc.catch(({ stdout }: { stdout: string }) => ({ stdout, stderr: "" }))).toEqual({
      stdout: "",
      stderr: "",
    });
  },
  180_000,
);
