/** What a source file may not contain: hidden clocks and chance, module state, `any`, and a beginning without a header. */
import { type FileRule, type Finding, finding, isNode, nameOf, walk } from "./source.ts";
import { BANNED_CALLS, CLOCK_ALLOWED } from "./tables.ts";

export const header: FileRule = (source) => {
  const opening = source.text.replace(/^#!.*\n/, "").trimStart();
  if (opening.startsWith("/*") || opening.startsWith("//")) return [];
  return [finding(source, 1, "header", "open the file with a comment: what it is for, and the invariant it guards")];
};

export const moduleLet: FileRule = (source) => {
  const body = Array.isArray(source.program.body) ? source.program.body.filter(isNode) : [];
  const declarations = body.map((node) => (isNode(node.declaration) ? node.declaration : node));
  return declarations
    .filter((node) => node.type === "VariableDeclaration" && (node.kind === "let" || node.kind === "var"))
    .map((node) => finding(source, source.lineOf(node.start), "module-let", "state of a module; put it in an object"));
};

export const noAny: FileRule = (source) => {
  const found: Finding[] = [];
  const reasons = source.comments.filter((comment) => /^\s*any: \S/.test(comment.value)).map((each) => each.line);
  walk(source.program, (node) => {
    if (node.type !== "TSAnyKeyword") return;
    const line = source.lineOf(node.start);
    if (reasons.includes(line) || reasons.includes(line - 1)) return;
    found.push(finding(source, line, "any", "write the type, `unknown`, or `// any: <reason>` on the line"));
  });
  return found;
};

export const bannedCalls: FileRule = (source) => {
  if (CLOCK_ALLOWED.some((allowed) => allowed.path.test(source.path))) return [];
  const found: Finding[] = [];
  walk(source.program, (node) => {
    if (node.type !== "CallExpression" && node.type !== "NewExpression") return;
    const name = nameOf(node.callee).replace(/^(globalThis)?\./, "");
    const bareDate = name === "Date" && (node.type === "CallExpression" || isEmpty(node.arguments));
    if (!BANNED_CALLS.includes(name) || (name === "Date" && !bareDate)) return;
    found.push(finding(source, source.lineOf(node.start), "banned-call", `${name} hides an input; take a World`));
  });
  const timers = source.imports.filter((each) => /^(node:)?timers(\/promises)?$/.test(each.specifier));
  for (const each of timers)
    found.push(finding(source, each.line, "banned-call", "timers hide an input; take a World"));
  return found;
};

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}
