/**
 * The page around an exported conversation: one file that needs nothing else and can do nothing.
 * Invariant: no script, no request: the policy in the head forbids both, whatever a message holds.
 */
import { escapeHtml } from "./html-text.ts";
import type { Language } from "./words.ts";

const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-src 'none'";

const STYLE = `
:root { color-scheme: light dark; --page: #faf9f7; --ink: #1d1c1a; --soft: #6b6862; --line: #e3e0da; --card: #fff; --user: #e9eef6; --accent: #2f5d8c; --bad: #a3392f; }
@media (prefers-color-scheme: dark) { :root { --page: #171716; --ink: #e8e6e1; --soft: #9b978f; --line: #33322f; --card: #1f1f1d; --user: #1f2a38; --accent: #8db8e8; --bad: #ee8f85; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 16px/1.65 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "PingFang SC", "Hiragino Sans GB", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif; text-autospace: normal; overflow-wrap: anywhere; }
main, header, footer { max-width: 46rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.5rem; padding-bottom: 0; }
header::after { content: ""; display: block; margin-top: 1.5rem; border-bottom: 1px solid var(--line); }
h1 { margin: 0 0 .4rem; font-size: 1.55rem; line-height: 1.3; font-weight: 650; text-wrap: balance; }
h2 { margin: 3rem 0 .25rem; font-size: 1.15rem; font-weight: 650; }
.facts, footer, .meta, .after { color: var(--soft); font-size: .85rem; }
.facts { margin: 0; }
.facts span + span::before, .meta span + *::before { content: " · "; }
a { color: var(--accent); text-decoration-thickness: 1px; text-underline-offset: .15em; }
article { margin: 1.5rem 0; scroll-margin-top: 1rem; }
article:target { outline: 2px solid var(--accent); outline-offset: .6rem; border-radius: .4rem; }
.meta { display: flex; gap: .1rem; flex-wrap: wrap; margin-bottom: .3rem; white-space: pre-wrap; }
.meta b { color: var(--ink); font-weight: 600; }
.label { color: var(--accent); }
.body > :first-child { margin-top: 0; } .body > :last-child { margin-bottom: 0; }
.user .body { background: var(--user); border-radius: .8rem; padding: .75rem 1rem; }
p { margin: .7em 0; white-space: pre-wrap; }
.heading { font-weight: 650; }
code, pre { font: .875em/1.55 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "Noto Sans Mono CJK SC", monospace; }
code { background: color-mix(in srgb, var(--soft) 14%, transparent); border-radius: .25rem; padding: .08em .3em; }
pre { margin: .7em 0; padding: .8rem 1rem; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; white-space: pre-wrap; }
pre code { background: none; padding: 0; font-size: 1em; }
details { margin: .6rem 0; border: 1px solid var(--line); border-radius: .5rem; background: var(--card); padding: .45rem .8rem; }
summary { cursor: pointer; color: var(--soft); font-size: .9rem; }
summary code { color: var(--ink); }
details pre { border: 0; padding: .3rem 0 0; margin: .3rem 0 0; background: none; }
.toolResult { margin-top: -.9rem; } .toolResult .meta { display: none; }
.failed summary { color: var(--bad); }
.compaction .body, .branch_summary .body { border-inline-start: 3px solid var(--line); padding-inline-start: 1rem; color: var(--soft); }
.forks { margin: .4rem 0 0; padding: 0; list-style: none; font-size: .9rem; }
.forks li::before { content: "↳ "; color: var(--soft); }
img { max-width: 100%; height: auto; border-radius: .5rem; }
section + section { border-top: 1px solid var(--line); margin-top: 3rem; }
nav ol { padding-inline-start: 1.4rem; }
footer { margin-top: 4rem; padding-bottom: 3rem; }
footer::before { content: ""; display: block; margin-bottom: 1rem; border-top: 1px solid var(--line); }
@media print {
  :root { --page: #fff; --ink: #000; --soft: #555; --line: #ccc; --card: #fff; --user: #f2f2f2; --accent: #000; }
  body { font-size: 10.5pt; } main, header, footer { max-width: none; padding-inline: 0; }
  article { break-inside: avoid-page; } details::details-content { content-visibility: visible; block-size: auto; }
  pre, .user .body { print-color-adjust: exact; }
}
`;

export function pageHead(title: string, language: Language): string {
  const lang = language === "zh" ? "zh-CN" : "en";
  return `<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
`;
}

export const PAGE_END = "</body>\n</html>\n";
