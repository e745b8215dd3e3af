/** Said text as HTML: nothing of it becomes markup, and only safe links become links. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { escapeHtml, textToHtml } from "../../src/formats/html-text.ts";

describe("what is written as what it is", () => {
  test.each([
    ["a <b> & \"c\" 'd'", "<p>a &lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;</p>"],
    ["one\n\ntwo\nthree", "<p>one</p><p>two\nthree</p>"],
    ["`x < y` and **bold**", "<p><code>x &lt; y</code> and <strong>bold</strong></p>"],
    ["## Title", '<p class="heading">Title</p>'],
    ["## Title\nand text", '<p class="heading">Title</p><p>and text</p>'],
    ["```js\nif (a < b) {}\n```", "<pre><code>if (a &lt; b) {}</code></pre>"],
    ["a\n```\nnever closed", "<p>a</p><pre><code>never closed</code></pre>"],
    ["\u0000\u001b[31m", "<p>\\x00\\x1b[31m</p>"],
    ["half \ud800", "<p>half \ufffd</p>"],
  ])("%j", (text, html) => expect(textToHtml(text)).toBe(html));

  test("links to the web and to mail addresses", () => {
    const rel = 'rel="noopener noreferrer nofollow"';
    expect(textToHtml("[x](https://a.b/?q=1&r=2)")).toBe(`<p><a href="https://a.b/?q=1&amp;r=2" ${rel}>x</a></p>`);
    expect(textToHtml("[x](mailto:a@b.c)")).toBe(`<p><a href="mailto:a@b.c" ${rel}>x</a></p>`);
    expect(textToHtml("见 https://a.b/c。完")).toBe(`<p>见 <a href="https://a.b/c" ${rel}>https://a.b/c</a>。完</p>`);
  });
});

test("whatever is said, the only tags are ours and the only addresses are safe", () => {
  const piece = fc.constantFrom(
    "<",
    ">",
    '"',
    "'",
    "&",
    "`",
    "```\n",
    "**",
    "[x](",
    ")",
    "javascript:",
    "https://",
    "a",
    " ",
    "\n",
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const html = textToHtml(pieces.join(""));
      const tags = html.match(/<[^>]*>/g) ?? [];
      const ours =
        /^<(?:\/?(?:p|pre|code|strong|a)|p class="heading"|a href="(?:https?:|mailto:)[^"<>]*" rel="[a-z ]+")>$/;
      for (const tag of tags) expect(tag).toMatch(ours);
      expect(html.replace(/<[^>]*>/g, "")).not.toMatch(/[<>"']/);
    }),
  );
});

test("escaped text reads back as it was", () => {
  const back: Readonly<Record<string, string>> = {
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&quot;": '"',
    "&#39;": "'",
  };
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), (text) => {
      fc.pre(!/[\u0000-\u001f\u007f-\u009f]/.test(text));
      expect(escapeHtml(text).replace(/&[^;]+;/g, (found) => back[found] ?? found)).toBe(text);
    }),
  );
});
