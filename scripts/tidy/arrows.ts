/** Who may import whom: arrows between packages, doors, and no cycle that exists at run time. */
import { posix } from "node:path";
import { type FileRule, type Finding, finding, type RepositoryRule, type Source } from "./source.ts";
import { ARROWS } from "./tables.ts";

/** `packages/agent/src/turn.ts` → `agent`; undefined outside packages. */
export function packageOf(path: string): string | undefined {
  return /^packages\/([^/]+)\//.exec(path)?.[1];
}

function targetOf(source: Source, specifier: string): string {
  return posix.normalize(posix.join(posix.dirname(source.path), specifier));
}

export const arrows: FileRule = (source) => {
  const own = packageOf(source.path);
  if (own === undefined) return [];
  const allowed = ARROWS[own];
  if (allowed === undefined) return [finding(source, 1, "arrow", `package ${own} is not in ARROWS (tidy/tables.ts)`)];
  return source.imports.flatMap((each): Finding[] => {
    const door = /^@holdfast\/(.+)$/.exec(each.specifier)?.[1];
    if (door !== undefined && !allowed.includes(door)) {
      return [finding(source, each.line, "arrow", `${own} may not import ${door}`)];
    }
    const deep = each.specifier.startsWith(".") && packageOf(targetOf(source, each.specifier)) !== own;
    return deep ? [finding(source, each.line, "door", `${each.specifier} leaves the package; use its door`)] : [];
  });
};

/** One finding per cycle of value imports, at its first file. */
export const cycles: RepositoryRule = (sources) => {
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const next = (source: Source): Source[] =>
    source.imports
      .filter((each) => !each.typeOnly && each.specifier.startsWith("."))
      .flatMap((each) => byPath.get(targetOf(source, each.specifier)) ?? []);
  const found = new Map<string, Finding>();
  const done = new Set<string>();
  const visit = (source: Source, trail: readonly string[]): void => {
    const at = trail.indexOf(source.path);
    if (at !== -1) {
      const members = trail.slice(at);
      const message = `imports itself: ${[...members, source.path].join(" → ")}`;
      found.set([...members].sort().join(), finding(source, 1, "cycle", message));
      return;
    }
    if (done.has(source.path)) return;
    for (const each of next(source)) visit(each, [...trail, source.path]);
    done.add(source.path);
  };
  for (const source of sources) visit(source, []);
  return [...found.values()];
};
