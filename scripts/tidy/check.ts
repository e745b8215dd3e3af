/** All rules over all sources, in one list. */
import { globSync } from "node:fs";
import { arrows, cycles } from "./arrows.ts";
import { mirrors } from "./mirrors.ts";
import { bannedCalls, header, moduleLet, noAny } from "./purity.ts";
import { classMembers, contractMethods, fileLines, functionLines, importCount, nesting } from "./sizes.ts";
import { type FileRule, type Finding, type RepositoryRule, readSource, type Source } from "./source.ts";

const FILE_RULES: readonly FileRule[] = [
  arrows,
  fileLines,
  functionLines,
  nesting,
  classMembers,
  contractMethods,
  importCount,
  header,
  moduleLet,
  noAny,
  bannedCalls,
];

/** Where sources are; tests are left to Biome and the compiler. */
const SOURCES = ["packages/*/src/**/*.{ts,tsx}", "scripts/*.ts", "scripts/tidy/**/*.ts", "bench/**/*.ts"];

export function readSources(root: string): Source[] {
  return globSync(SOURCES, { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .sort()
    .map((path) => readSource(root, path));
}

export function check(sources: readonly Source[], exists?: (path: string) => boolean): Finding[] {
  const repositoryRules: readonly RepositoryRule[] = [cycles, mirrors(exists)];
  return [
    ...sources.flatMap((source) => FILE_RULES.flatMap((rule) => rule(source))),
    ...repositoryRules.flatMap((rule) => rule(sources)),
  ];
}
