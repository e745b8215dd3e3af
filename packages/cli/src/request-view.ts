/** One request as text for people: what went in and what it cost, what did not and why. Pure. */
import { type RequestReport, whyText } from "@holdfast/agent/internal";
import { isObject } from "@holdfast/base";
import { excerptOf } from "./context-view.ts";
import { type Palette, printable } from "./output.ts";
import { ago, columns, counted, sizeText } from "./table.ts";

/** What stays for a request that is kept. */
export interface ShownRequest {
  readonly report: RequestReport;
  /** Of each message: tokens, the entry it came from, and the message itself where it can be rebuilt. */
  readonly messages: readonly {
    readonly tokens: number;
    readonly entryId: string | null;
    readonly message: unknown;
  }[];
  /** What is not kept any more. */
  readonly missing: readonly string[];
}

export function drawRequest({ report, messages, missing }: ShownRequest, paint: Palette, nowMs: number): string {
  return [
    paint.bold(titleOf(report, nowMs)),
    tokensLine(report),
    "",
    columns(
      partsOf(report).map(([tokens, name, note]) => [`  ${tokens.padStart(8)}`, name, paint.dim(note)]),
    ).trimEnd(),
    "",
    ...messages.map((one) => messageLine(one, paint)),
    "",
    prefixLine(report),
    ...(report.compaction === null ? [] : [`what was before is in the summary ${printable(report.compaction)}`]),
    ...whyLines("left out", report.leftOut),
    ...whyLines("changed", report.changed),
    ...limitsLine(report),
    missing.length === 0
      ? `Every byte of it can be rebuilt: --request ${report.n} --json. ${paint.dim(`sha256 ${report.sha256.slice(0, 16)}`)}`
      : `Not kept any more: ${missing.map(printable).join(", ")}. The rest is there with --json.`,
  ].join("\n");
}

function titleOf({ n, at, sessionKey, model, family }: RequestReport, nowMs: number): string {
  return printable(`Request ${n} of ${sessionKey}, ${ago(Date.parse(at), nowMs)}, to ${model} (${family})`);
}

const grouped = (count: number): string => count.toLocaleString("en-US");

function tokensLine({ tokens, limits, bytes }: RequestReport): string {
  const window = typeof limits.contextWindow === "number" ? ` of ${grouped(limits.contextWindow)}` : "";
  return `${grouped(tokens.total)}${window} tokens (${tokens.how}), ${sizeText(bytes)}`;
}

type Row = readonly [tokens: string, name: string, note: string];

function partsOf(report: RequestReport): readonly Row[] {
  const { tokens, sections, files, tools, newest } = report;
  const fileOf = (name: string) => files.find((file) => file.name === name);
  const named = new Set(sections.map(({ name }) => name));
  const sectionRow = ({ name, tokens: count, bytes }: RequestReport["sections"][number]): Row => {
    const file = fileOf(name);
    return [grouped(count), `  ${printable(name)}`, file === undefined ? sizeText(bytes) : fileNote(file)];
  };
  const others = files.filter(({ name }) => !named.has(name));
  return [
    [grouped(tokens.system), "system prompt", counted(sections.length, "section")],
    ...sections.map(sectionRow),
    ...others.map((file): Row => ["-", `  ${printable(file.name)}`, fileNote(file)]),
    [grouped(tokens.tools), "tools", printable(tools.names.join(", "))],
    [grouped(tokens.history), "history", counted(report.messages - (newest === null ? 0 : 1), "message")],
    [grouped(tokens.newest), "newest message", newest?.entryId ?? ""],
  ];
}

function fileNote({ bytes, sha256, cut }: RequestReport["files"][number]): string {
  return `${sizeText(bytes)}, sha256 ${sha256.slice(0, 8)}${cut === null ? "" : `; ${printable(cut)}`}`;
}

function messageLine({ tokens, entryId, message }: ShownRequest["messages"][number], paint: Palette): string {
  const fields = isObject(message) ? message : null;
  const role = fields === null ? "?" : printable(String(fields.role));
  const said = fields === null ? paint.dim("(not kept)") : excerptOf(fields);
  return `${grouped(tokens).padStart(10)}  ${role}  ${paint.dim(entryId ?? "put in")}  ${said}`;
}

function prefixLine({ prefix, bytes }: RequestReport): string {
  if (prefix.with === null) return "No request before it is known.";
  const share = bytes === 0 ? 0 : Math.floor((100 * prefix.bytes) / bytes);
  const how = prefix.extends
    ? "goes on where it ended"
    : prefix.head
      ? "differs in its messages"
      : "differs in its system prompt or tools";
  return `It begins like request ${prefix.with} for ${sizeText(prefix.bytes)} (${share}%) and ${how}. Prefix ${prefix.sha256.slice(0, 16)}.`;
}

function whyLines(what: string, whys: RequestReport["leftOut"]): readonly string[] {
  return whys.flatMap((one) => {
    const said = whyText(one, "en");
    if (said === null) return [];
    const some = one.ids.slice(0, 3).map(printable).join(", ");
    return [`${what}: ${printable(said)}${some === "" ? "" : ` (${some}${one.count > 3 ? ", …" : ""})`}`];
  });
}

function limitsLine({ limits }: RequestReport): readonly string[] {
  const named = Object.entries(limits).map(
    ([name, value]) => `${name} ${typeof value === "number" ? grouped(value) : JSON.stringify(value)}`,
  );
  return named.length === 0 ? [] : [`limits: ${printable(named.join(", "))}`];
}

/** One line under a context. */
export function lastRequestLine(reports: readonly RequestReport[], nowMs: number): string {
  const last = reports.at(-1);
  if (last === undefined) return "";
  const { tokens, n, at } = last;
  const from = reports[0]?.n === n ? "" : ` Kept: ${reports[0]?.n} to ${n}.`;
  return `The last request was ${n}, ${ago(Date.parse(at), nowMs)}: ${grouped(tokens.total)} tokens (${tokens.how}); --request ${n} shows it.${from}`;
}
