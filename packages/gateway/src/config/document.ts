/**
 * docs/config.md, made from the schema: what is documented is what is accepted.
 * A test keeps the file equal; `HOLDFAST_UPDATE_DOCS=1 npx vitest run packages/gateway/test/config/document.test.ts` rewrites it.
 */
import { isObject } from "@holdfast/base";
import { jsonSchema } from "./check.ts";

type Node = ReturnType<typeof jsonSchema>;

const HEAD = `# Configuration

\`$HOLDFAST_HOME/holdfast.json\` (default \`~/.holdfast/holdfast.json\`), JSON5: comments, trailing commas and unquoted keys are fine.
A missing file means the defaults below. An unknown key is an error that names the nearest known one. \`\${NAME}\` in a string is
replaced by that environment variable; a missing variable is an error; \`$\${NAME}\` stays as it is.
Durations are \`"500ms" | "30s" | "5m" | "2h" | "30d"\` or milliseconds; sizes are \`"100mb"\` or bytes. \`holdfast config check\` reports every problem with its line.
An entry of \`agents.list\` may override anything under \`agents.defaults\`.

| key | type | default | meaning |
|---|---|---|---|
`;

function nodes(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function typeOf(node: Node): string {
  if (typeof node.title === "string") return node.title;
  if (node.enum) return node.enum.map((value) => JSON.stringify(value)).join(" / ");
  if (node.const !== undefined) return JSON.stringify(node.const);
  const choices = [...nodes(node.anyOf), ...nodes(node.oneOf)];
  if (choices.length > 0) return choices.map(typeOf).join(" / ");
  if (node.type === "array") return isObject(node.items) ? `list of ${typeOf(node.items)}` : "list";
  if (node.type === "object" && node.properties?.driver)
    return `{ driver: ${typeOf(node.properties.driver as Node)}, ... }`;
  return String(node.type ?? "any");
}

function row(path: string, node: Node): string {
  const fallback = node.default === undefined ? "" : `\`${JSON.stringify(node.default)}\``;
  return `| \`${path}\` | ${typeOf(node)} | ${fallback} | ${node.description ?? ""} |\n`;
}

function rows(node: Node, path: string): string {
  return Object.entries(node.properties ?? {})
    .filter(([, child]) => isObject(child))
    .map(([key, child]) => {
      const at = path === "" ? key : `${path}.${key}`;
      const section = child as Node;
      return section.properties ? rows(section, at) : row(at, section);
    })
    .join("");
}

/** The text of docs/config.md. */
export function configDocument(): string {
  return HEAD + rows(jsonSchema(), "");
}
