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

function expandText(text: string, env: Environment, miss: (name: string) => void): string {
  return text.replace(/(\$?)\$\{([A-Za-z_]\w*)\}/g, (whole, escaped: string, name: string) => {
    if (escaped !== "") return whole.slice(1);
    const value = env[name];
    if (value === undefined) miss(name);
    return value ?? "";
  });
}

/** A copy of `value` with every string expanded, and what was missing. */
export function expand(
  value: unknown,
  env: Environment,
): { readonly value: unknown; readonly missing: readonly Missing[] } {
  const missing: Missing[] = [];
  const walk = (node: unknown, path: readonly PropertyKey[]): unknown => {
    if (typeof node === "string") return expandText(node, env, (name) => missing.push({ path, name }));
    if (Array.isArray(node)) return node.map((item, index) => walk(item, [...path, index]));
    if (!isObject(node)) return node;
    return Object.fromEntries(Object.entries(node).map(([key, item]) => [key, walk(item, [...path, key])]));
  };
  return { value: walk(value, []), missing };
}
