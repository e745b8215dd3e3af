/** Tests are found without searching: `src/a/b.ts` is tested by `test/a/b.test.ts`, or the table says where. */
import { existsSync } from "node:fs";
import type { Finding, RepositoryRule } from "./source.ts";
import { finding } from "./source.ts";
import { TESTED_ELSEWHERE } from "./tables.ts";

export function mirrors(exists: (path: string) => boolean = existsSync): RepositoryRule {
  return (sources) =>
    sources.flatMap((source): Finding[] => {
      const match = /^(packages\/[^/]+)\/src\/(.+)\.tsx?$/.exec(source.path);
      if (match === null || TESTED_ELSEWHERE.some((each) => each.path.test(source.path))) return [];
      const expected = `${match[1]}/test/${match[2]}.test.ts`;
      if (exists(expected)) return [];
      return [{ ...finding(source, 1, "mirrored-test", `expected ${expected}`), severity: "warn" }];
    });
}
