/** Exports for people: everything said is there, nothing of it is markup, branches are linked, large files stream. */
import { execFile } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { EXPORT_FORMATS, type ExportOptions, exportTranscript } from "../../src/keeping/export.ts";
import { answer, call, compaction, custom, fileOf, make, message, tempDir, user } from "../support/make.ts";

async function exported(file: string, options: ExportOptions): Promise<string> {
  const pieces: string[] = [];
  for await (const piece of exportTranscript(file, options)) pieces.push(String(piece));
  return pieces.join("");
}

const evil = '</pre></details><script>alert(1)</script><img src=x onerror="alert(2)"> "quoted" & done';
const ENTRIES = [
  user("u1", null, `first ${evil}`),
  message("a1", "u1", {
    role: "assistant",
    content: [
      { type: "thinking", thinking: `thought ${evil}` },
      { type: "text", text: `said ${evil}\n\n\`\`\`js\nlet a = "<b>";\n\`\`\`` },
      { type: "toolCall", id: "t1", name: `tool ${evil}`, arguments: { text: evil } },
    ],
    provider: "p",
    model: "m",
  }),
  message("r1", "a1", {
    role: "toolResult",
    toolCallId: "t1",
    toolName: `tool ${evil}`,
    content: [
      { type: "text", text: `out ${evil}` },
      { type: "image", mimeType: "image/png", data: "aGVsbG8=" },
      { type: "image", mimeType: "image/svg+xml", data: "PHN2Zz4=" },
      { type: "image", mimeType: 'image/png"><script>', data: "aGVsbG8=" },
    ],
    isError: true,
  }),
  compaction("k1", "r1", "a1", { summary: `summed ${evil}` }),
  user("u2", "k1", "last on the main way"),
  user("u3", "u1", "another way 另一条路"),
  answer("a3", "u3", "its answer"),
  make("label", "l1", "a3", { targetId: "u1", label: `mark ${evil}` }),
  make("session_info", "n1", "l1", { name: `name ${evil}` }),
  custom("m1", "u2", "holdfast:leaf", { from: "n1" }),
];

describe("HTML", () => {
  test("one file that can do nothing: no tag but ours, a policy, everything that was said", async () => {
    await using dir = await tempDir();
    const html = await exported(await dir.write("s-1.jsonl", fileOf(ENTRIES)), { format: "html" });
    expect(html).toContain("default-src 'none'");
    const names = new Set([...html.matchAll(/<\/?([a-z0-9!-]+)/gi)].map(([, name]) => name?.toLowerCase()));
    for (const name of ["script", "iframe", "object", "form", "svg", "link"]) expect(names).not.toContain(name);
    for (const [, attributes] of html.matchAll(/<[a-z][^<>]*?(\s[^<>]*)>/gi))
      expect(attributes).not.toMatch(/\son\w+=/i);
    expect([...html.matchAll(/<img [^>]*>/g)].map(([tag]) => tag)).toEqual([
      '<img alt="Image" src="data:image/png;base64,aGVsbG8=">',
    ]);
    for (const said of ["first", "thought", "said", "out", "summed", "mark", "name"]) {
      expect(html).toContain(`${said} &lt;/pre&gt;&lt;/details&gt;&lt;script&gt;alert(1)`);
    }
  });

  test("branches are linked both ways", async () => {
    await using dir = await tempDir();
    const html = await exported(await dir.write("s-1.jsonl", fileOf(ENTRIES)), { format: "html" });
    const ids = new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const targets = [...html.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(targets).toEqual(["branch-1", "branch-1", "e0"]);
    for (const target of targets) expect(ids).toContain(target);
    expect(html.indexOf("last on the main way")).toBeLessThan(html.indexOf("its answer"));
  });

  test("a link to a branch says how it begins, short and without marks", async () => {
    await using dir = await tempDir();
    const long = `**bold** \`code\` ${"很长".repeat(80)}`;
    const entries = [user("u1", null, "ask"), answer("a1", "u1", long), answer("a2", "u1", "now")];
    const html = await exported(await dir.write("s-1.jsonl", fileOf(entries)), { format: "html", language: "zh" });
    const text = /从这里的另一条路：<a href="#branch-1">([^<]*)</.exec(html)?.[1] ?? "";
    expect(text).toMatch(/^bold code 很长[很长]*…$/);
    expect([...text]).toHaveLength(72);
  });

  test("in Chinese, and for a conversation in which nothing was said", async () => {
    await using dir = await tempDir();
    const html = await exported(await dir.write("s-1.jsonl", fileOf([])), {
      format: "html",
      language: "zh",
      title: "标题",
    });
    expect(html).toContain('<html lang="zh-CN">');
    expect(html).toContain("<h1>标题</h1>");
    expect(html).toContain("还没有任何内容。");
  });
});

describe("Markdown", () => {
  test("what was said cannot end the block it stands in or pass for a heading", async () => {
    await using dir = await tempDir();
    const entries = [
      user("u1", null, "# not ours\nsaid"),
      call("c1", "u1", ["t1"]),
      message("r1", "c1", {
        role: "toolResult",
        toolCallId: "t1",
        toolName: "read",
        content: [{ type: "text", text: "````\n# inside\n````" }],
        isError: false,
      }),
      answer("a2", "u1", "the other answer"),
    ];
    const text = await exported(await dir.write("s-1.jsonl", fileOf(entries)), { format: "markdown", title: "T" });
    expect(text.match(/^#{1,6} .*$/gm)).toEqual([
      "# T",
      "### User · 2026-01-05 09:00",
      "### Assistant · 2026-01-05 09:00",
      "## Branch 1",
      "### Assistant · 2026-01-05 09:00",
      "### Result `read` · 2026-01-05 09:00",
      "# inside",
    ]);
    expect(text).toContain("\\# not ours\nsaid");
    expect(text).toContain("`````\n````\n# inside\n````\n`````");
    expect(text).toContain("*after User, 2026-01-05 09:00*");
  });
});

test("jsonl is the file, byte for byte, damage included", async () => {
  await using dir = await tempDir();
  const bytes = Buffer.concat([Buffer.from(fileOf(ENTRIES)), Buffer.from([0xff, 0x00]), Buffer.from("torn")]);
  const file = await dir.write("s-1.jsonl", bytes);
  const pieces: Buffer[] = [];
  for await (const piece of exportTranscript(file, { format: "jsonl" })) pieces.push(Buffer.from(piece));
  expect(Buffer.concat(pieces)).toEqual(bytes);
});

test.each(EXPORT_FORMATS.filter((format) => format !== "jsonl"))(
  "%s: a file that is no transcript is refused",
  async (format) => {
    await using dir = await tempDir();
    await expect(exported(await dir.write("x.txt", "hello\n"), { format })).rejects.toMatchObject({
      code: "not_a_transcript",
    });
  },
);

test("60 MB go out through 40 MB of heap, in every format", async () => {
  await using dir = await tempDir();
  const file = await dir.write("s-1.jsonl", fileOf([]));
  await using handle = await open(file, "a");
  const body = "x".repeat(50_100);
  for (let n = 0; n < 1200; n++) {
    await handle.write(`${JSON.stringify(user(`u${n}`, n === 0 ? null : `u${n - 1}`, body))}\n`);
  }
  const program = new URL("../support/exporter.ts", import.meta.url).pathname;
  const run = promisify(execFile);
  const formats = ["json", "flat", "html"];
  const args = ["--max-old-space-size=40", "--conditions=holdfast-src", program, file, ...formats];
  const { stdout } = await run(process.execPath, args);
  for (const bytes of stdout.trim().split("\n")) expect(Number(bytes)).toBeGreaterThan(60_000_000);
  expect((await readFile(file)).length).toBeGreaterThan(60_000_000);
}, 20_000);
