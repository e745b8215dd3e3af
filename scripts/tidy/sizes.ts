/** Sizes: files, functions, nesting, classes, contracts, imports. Medians do not rot, tails do; so the tail is limited. */
import { type FileRule, type Finding, finding, isNode, type Node, nameOf, type Source, walk } from "./source.ts";
import { BUDGET, CONTRACT_NAME, MANY_IMPORTS } from "./tables.ts";

const FUNCTION = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
const NESTING = /^(If|For|ForIn|ForOf|While|DoWhile|Switch|Try)Statement$/;

interface Range {
  readonly warn: number;
  readonly fail: number;
}

function sized(source: Source, line: number, rule: string, what: string, lines: number, range: Range): Finding[] {
  if (lines <= range.warn) return [];
  const severity = lines > range.fail ? "fail" : "warn";
  const limit = severity === "fail" ? range.fail : range.warn;
  return [{ ...finding(source, line, rule, `${what} has ${lines} lines; the limit is ${limit}`), severity }];
}

export const fileLines: FileRule = (source) => {
  const lines = source.text.split("\n").length - (source.text.endsWith("\n") ? 1 : 0);
  return sized(source, 1, "file-lines", "the file", lines, BUDGET.fileLines);
};

export const functionLines: FileRule = (source) => {
  const found: Finding[] = [];
  walk(source.program, (node, ancestors) => {
    if (!FUNCTION.test(node.type)) return;
    const first = source.lineOf(node.start);
    const lines = source.lineOf(node.end) - first + 1;
    const name = nameOf(node.id) || nameOf(ancestors.at(-1)?.key) || nameOf(ancestors.at(-1)?.id) || "a function";
    found.push(...sized(source, first, "function-lines", name, lines, BUDGET.functionLines));
  });
  return found;
};

/** Depth of branches and loops around a node, inside its function; `else if` is one step with its `if`. */
function depthOf(node: Node, ancestors: readonly Node[]): number {
  const functionAt = ancestors.findLastIndex((ancestor) => FUNCTION.test(ancestor.type));
  const chain = [...ancestors.slice(functionAt + 1), node];
  return chain.filter((step, index) => {
    const elseIf = step.type === "IfStatement" && chain[index - 1]?.alternate === step;
    return NESTING.test(step.type) && !elseIf;
  }).length;
}

export const nesting: FileRule = (source) => {
  const found: Finding[] = [];
  walk(source.program, (node, ancestors) => {
    if (!NESTING.test(node.type) || depthOf(node, ancestors) !== BUDGET.nestingMax + 1) return;
    const elseIf = node.type === "IfStatement" && ancestors.at(-1)?.alternate === node;
    if (elseIf) return;
    const message = `nested deeper than ${BUDGET.nestingMax}; return early or name a step`;
    found.push(finding(source, source.lineOf(node.start), "nesting", message));
  });
  return found;
};

function membersOf(node: Node): Node[] {
  const body = isNode(node.body) ? node.body.body : undefined;
  return Array.isArray(body) ? body.filter(isNode) : [];
}

export const classMembers: FileRule = (source) => {
  const found: Finding[] = [];
  walk(source.program, (node) => {
    if (!/^Class(Declaration|Expression)$/.test(node.type)) return;
    const count = membersOf(node).length;
    if (count <= BUDGET.classMembersMax) return;
    const message = `class ${nameOf(node.id)} has ${count} members; the limit is ${BUDGET.classMembersMax}`;
    found.push(finding(source, source.lineOf(node.start), "class-members", message));
  });
  return found;
};

function isMethod(member: Node): boolean {
  if (member.type === "TSMethodSignature") return true;
  const annotation = isNode(member.typeAnnotation) ? member.typeAnnotation.typeAnnotation : undefined;
  return isNode(annotation) && annotation.type === "TSFunctionType";
}

export const contractMethods: FileRule = (source) => {
  const found: Finding[] = [];
  walk(source.program, (node) => {
    if (node.type !== "TSInterfaceDeclaration" || !CONTRACT_NAME.test(nameOf(node.id))) return;
    const count = membersOf(node).filter(isMethod).length;
    if (count <= BUDGET.contractMethodsMax) return;
    const message = `contract ${nameOf(node.id)} has ${count} methods; the limit is ${BUDGET.contractMethodsMax}`;
    found.push(finding(source, source.lineOf(node.start), "contract-methods", message));
  });
  return found;
};

export const importCount: FileRule = (source) => {
  if (MANY_IMPORTS.includes(source.path)) return [];
  const own = source.imports.map((each) => each.specifier).filter((name) => /^(\.|@holdfast\/)/.test(name));
  const count = new Set(own).size;
  if (count <= BUDGET.importsMax) return [];
  const message = `imports ${count} files of this repository; the limit is ${BUDGET.importsMax}`;
  return [finding(source, 1, "imports", message)];
};
