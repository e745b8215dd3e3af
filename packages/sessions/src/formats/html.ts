/**
 * A conversation as one HTML file for people: the current branch, then the others, each linked with where it branches off.
 * Invariant: streams: memory holds one entry; everything that was said is escaped (html-text.ts).
 */
import type { Entry } from "../entry.ts";
import { PAGE_END, pageHead } from "./html-page.ts";
import { escapeHtml, textToHtml } from "./html-text.ts";
import { clockOf, type ForPeople, kindOf, type Layout, layoutOf, type Part, partsOf, resultOf } from "./reader.ts";
import type { Section } from "./sections.ts";
import type { Survey } from "./survey.ts";
import { speakerOf, type Words, wordsIn } from "./words.ts";

export async function* htmlOf(survey: Survey, { title, language }: ForPeople): AsyncGenerator<string> {
  const words = wordsIn(language);
  const layout = layoutOf(survey);
  const [main, ...others] = layout.sections;
  const heading = title ?? survey.name ?? words.untitled;
  const page = new Page(survey, layout, words);
  yield pageHead(heading, language);
  yield `<header><h1>${escapeHtml(heading)}</h1>${page.facts()}${await page.contents(others)}</header>\n<main>\n<section>\n`;
  if (main === undefined || main.entries.length === 0) yield `<p class="after">${words.empty}</p>\n`;
  else yield* page.articles(main);
  yield "</section>\n";
  for (const [number, section] of others.entries()) yield* page.branch(section, number + 1);
  yield `</main>\n<footer>${words.exported} ${escapeHtml(survey.whole.header.header?.id ?? "")}</footer>\n${PAGE_END}`;
}

class Page {
  readonly #survey: Survey;
  readonly #layout: Layout;
  readonly #words: Words;

  constructor(survey: Survey, layout: Layout, words: Words) {
    this.#survey = survey;
    this.#layout = layout;
    this.#words = words;
  }

  facts(): string {
    const count = this.#survey.isMessage.filter(Boolean).length;
    const began = this.#survey.whole.header.header?.timestamp;
    const { message, messages } = this.#words;
    const facts = [
      `${count} ${count === 1 ? message : messages}`,
      ...(typeof began === "string" ? [began.slice(0, 10)] : []),
    ];
    return `<p class="facts">${facts.map((fact) => `<span>${escapeHtml(fact)}</span>`).join("")}</p>`;
  }

  /** Links to the other branches; nothing where there are none. */
  async contents(others: readonly Section[]): Promise<string> {
    if (others.length === 0) return "";
    const items: string[] = [];
    for (const [number, section] of others.entries()) {
      items.push(`<li><a href="#branch-${number + 1}">${escapeHtml(await this.#layout.excerpt(section))}</a></li>`);
    }
    return `<nav><details><summary>${this.#words.branches} (${others.length})</summary><ol>${items.join("")}</ol></details></nav>`;
  }

  async *branch(section: Section, number: number): AsyncGenerator<string> {
    const { branch, begins, back } = this.#words;
    const place = section.after === -1 ? begins : `<a href="#e${section.after}">${back}</a>`;
    yield `<section id="branch-${number}"><h2>${branch} ${number}</h2><p class="after">${place}</p>\n`;
    yield* this.articles(section);
    yield "</section>\n";
  }

  async *articles(section: Section): AsyncGenerator<string> {
    for (const index of section.entries) yield await this.#article(await this.#layout.read(index), index);
  }

  async #article(entry: Entry, index: number): Promise<string> {
    const kind = kindOf(entry);
    const label = this.#survey.labels.get(entry.id);
    const chip = label === undefined ? "" : `<span class="label">${escapeHtml(label)}</span>`;
    const who = `<span><b>${escapeHtml(speakerOf(kind, this.#words))}</b></span>`;
    const meta = `<div class="meta">${who}<span><time>${clockOf(entry)}</time></span>${chip}</div>`;
    const body = `<div class="body">${this.#body(entry)}</div>`;
    const name = kind.replace(/[^A-Za-z_]/g, "");
    return `<article class="${name}" id="e${index}">${meta}${body}${await this.#forks(index)}</article>\n`;
  }

  #body(entry: Entry): string {
    const result = resultOf(entry);
    const parts = partsOf(entry);
    if (result === null) return parts.map((part) => this.#part(part)).join("");
    const inside = parts.map((part) => (part.kind === "text" ? preformatted(part.text) : this.#part(part))).join("");
    const { toolResult, failed, colon } = this.#words;
    const title = `${toolResult}${colon}<code>${escapeHtml(result.name)}</code>${result.isError ? ` (${failed})` : ""}`;
    return folded(title, inside, result.isError ? "failed" : "");
  }

  #part(part: Part): string {
    switch (part.kind) {
      case "text":
        return textToHtml(part.text);
      case "thinking":
        return folded(this.#words.thinking, textToHtml(part.text));
      case "call":
        return folded(
          `${this.#words.call}${this.#words.colon}<code>${escapeHtml(part.name)}</code>`,
          preformatted(part.text),
        );
      case "image":
        return imageOf(part, this.#words.image);
    }
  }

  async #forks(index: number): Promise<string> {
    const numbers = this.#layout.forks.get(index) ?? [];
    const items: string[] = [];
    for (const number of numbers) {
      const text = escapeHtml(await this.#layout.excerpt(this.#layout.sections[number]!));
      items.push(`<li>${this.#words.elsewhere}${this.#words.colon}<a href="#branch-${number}">${text}</a></li>`);
    }
    return items.length === 0 ? "" : `<ul class="forks">${items.join("")}</ul>`;
  }
}

function folded(title: string, inside: string, name = ""): string {
  return `<details${name === "" ? "" : ` class="${name}"`}><summary>${title}</summary>${inside}</details>`;
}

function preformatted(text: string): string {
  return `<pre>${escapeHtml(text)}</pre>`;
}

/** Only pictures that are nothing but pictures; an SVG may hold a script. */
function imageOf({ mimeType, data }: Part & { kind: "image" }, word: string): string {
  const isSafe = /^image\/(?:png|jpeg|gif|webp)$/.test(mimeType) && /^[A-Za-z0-9+/]+={0,2}$/.test(data);
  if (!isSafe) return `<p>[${escapeHtml(`${word}: ${mimeType}`)}]</p>`;
  return `<p><img alt="${escapeHtml(word)}" src="data:${mimeType};base64,${data}"></p>`;
}
