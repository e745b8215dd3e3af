/**
 * `${NAME}` in the strings of a configuration becomes that environment variable; `$${NAME}` stays as the text `${NAME}`.
 * A missing variable is a problem, never an empty string: an empty key would fail later and further away.
 */
import { isObject } from "@holdfast/base";

export type Environment = Readonly<Record<string, string | undefined>>;
export interface Missing {
  readonly path: readonly PropertyKey[];
  readonly name: string;
}

function expandText(text: string, env: Environment, named: (name: string) => void): string {
  return text.replace(/(\$?)\$\{([A-Za-z_]\w*)\}/g, (whole, escaped: string, name: string) => {
    if (escaped !== "") return whole.slice(1);
    named(name);
    return env[name] ?? "";
  });
}

/** A copy of `value` with every string expanded, what was missing, and which variables were found. */
export function expand(
  value: unknown,
  env: Environment,
): { readonly value: unknown; readonly missing: readonly Missing[]; readonly found: readonly string[] } {
  const missing: Missing[] = [];
  const found = new Set<string>();
  const walk = (node: unknown, path: readonly PropertyKey[]): unknown => {
    const noted = (name: string): void => {
      if (env[name] === undefined) missing.push({ path, name });
      else found.add(name);
    };
    if (typeof node === "string") return expandText(node, env, noted);
    if (Array.isArray(node)) return node.map((item, index) => walk(item, [...path, index]));
    if (!isObject(node)) return node;
    return Object.fromEntries(Object.entries(node).map(([key, item]) => [key, walk(item, [...path, key])]));
  };
  return { value: walk(value, []), missing, found: [...found] };
}
