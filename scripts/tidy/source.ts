/**
 * One parsed source file, as the rules see it. The parser is the one that Vite brings (oxc): TypeScript 7 has no JS API.
 */
import { readFileSync } from "node:fs";
import { parseSync } from "vite";

/** Any node of the syntax tree; rules look at the few fields they know. */
export interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** True when nothing of it is left at run time. */
  readonly typeOnly: boolean;
}

export interface Source {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
  readonly program: Node;
  readonly comments: readonly { readonly value: string; readonly line: number }[];
  readonly imports: readonly Import[];
  /** 1-based. */
  lineOf(offset: number): number;
}

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly message: string;
  readonly severity: "fail" | "warn";
}

export type FileRule = (source: Source) => readonly Finding[];
export type RepositoryRule = (sources: readonly Source[]) => readonly Finding[];

export function finding(source: Source, line: number, rule: string, message: string): Finding {
  return { file: source.path, line, rule, message, severity: "fail" };
}

export function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function childrenOf(node: Node): Node[] {
  return Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]).filter(isNode));
}

/** Calls `visit` for each node below and including `node`, parents first; `visit` gets the chain of ancestors. */
export function walk(node: Node, visit: (node: Node, ancestors: readonly Node[]) => void): void {
  const step = (current: Node, ancestors: readonly Node[]): void => {
    visit(current, ancestors);
    const chain = [...ancestors, current];
    for (const child of childrenOf(current)) step(child, chain);
  };
  step(node, []);
}

export function nameOf(node: unknown): string {
  if (!isNode(node)) return "";
  if (node.type === "MemberExpression") return `${nameOf(node.object)}.${nameOf(node.property)}`;
  return typeof node.name === "string" ? node.name : "";
}

function importsOf(program: Node, lineOf: (offset: number) => number): Import[] {
  const imports: Import[] = [];
  walk(program, (node) => {
    if (!isNode(node.source) || typeof node.source.value !== "string") return;
    if (!/^(Import|Export(Named|All))(Declaration|Expression)$/.test(node.type)) return;
    imports.push({ specifier: node.source.value, line: lineOf(node.start), typeOnly: isTypeOnly(node) });
  });
  return imports;
}

function isTypeOnly(node: Node): boolean {
  if (node.importKind === "type" || node.exportKind === "type") return true;
  const names = Array.isArray(node.specifiers) ? node.specifiers.filter(isNode) : [];
  return names.length > 0 && names.every((name) => name.importKind === "type" || name.exportKind === "type");
}

/** Parses text. Throws on a syntax error, naming the file. */
export function parseSource(path: string, text: string): Source {
  const parsed = parseSync(path, text, { lang: path.endsWith(".tsx") ? "tsx" : "ts" });
  const problem = parsed.errors[0];
  if (problem !== undefined) throw new SyntaxError(`${path}: ${problem.message}`);
  const starts = [0, ...[...text.matchAll(/\n/g)].map((match) => match.index + 1)];
  const lineOf = (offset: number): number => {
    const next = starts.findIndex((start) => start > offset);
    return next === -1 ? starts.length : next;
  };
  const program: Node = { ...parsed.program };
  const comments = parsed.comments.map((comment) => ({ value: comment.value, line: lineOf(comment.start) }));
  return { path, text, program, comments, imports: importsOf(program, lineOf), lineOf };
}

export function readSource(root: string, path: string): Source {
  return parseSource(path, readFileSync(`${root}/${path}`, "utf8"));
}
