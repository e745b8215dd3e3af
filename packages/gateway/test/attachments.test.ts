/** Files that come with messages: whole and on the disk before the message is accepted, seen by the model, inside the workspace. */
import { lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { say, scriptedModel } from "@holdfast/agent";
import { LIMITS } from "@holdfast/base";
import { expect, test } from "vitest";
import type { WireAttached } from "../src/wire/index.ts";
import { startGateway } from "./support/gateway.ts";
import { ask, tokenOf } from "./support/http.ts";

const KEY = "agent:main:main";
/** The smallest PNG. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

async function started() {
  const model = scriptedModel(() => say("Seen."));
  const { gateway, home } = await startGateway({ model, http: true });
  const base = `${gateway.address}/api/sessions/${KEY}`;
  const authorization = `Bearer ${tokenOf(home)}`;
  const upload = (name: string, type: string, content: Uint8Array) =>
    new Promise<{ status: number; body: WireAttached & { error?: { code: string } } }>((resolve, reject) => {
      const headers = { authorization, "content-type": type, "content-length": content.length };
      const sent = request(
        `${base}/attachments?name=${encodeURIComponent(name)}`,
        { method: "POST", headers },
        (answer) => {
          let text = "";
          answer.on("data", (piece) => {
            text += String(piece);
          });
          answer.on("end", () => resolve({ status: answer.statusCode!, body: JSON.parse(text) }));
        },
      );
      sent.on("error", reject);
      sent.end(content);
    });
  const send = async (body: object) => {
    const { status, json } = await ask(`${base}/messages`, { method: "POST", headers: { authorization }, body });
    return [status, json()] as const;
  };
  return { gateway, home, model, upload, send, workspace: join(home, "workspace") };
}

test("a picture is kept, and the model sees it beside the text and reads where it lies", async () => {
  const { upload, send, model, workspace } = await started();
  const { status, body } = await upload("图 1.png", "image/png", PNG);
  expect([status, body]).toEqual([
    201,
    {
      attachment: {
        name: "图 1.png",
        type: "image/png",
        bytes: PNG.length,
        path: expect.stringMatching(/^inbox\/[0-9a-f]{12}-图_1\.png$/),
      },
    },
  ]);
  const { path } = body.attachment;
  expect(readFileSync(join(workspace, path)).equals(PNG)).toBe(true);
  expect(lstatSync(join(workspace, path)).mode & 0o777).toBe(0o600);
  expect(
    await send({ text: "What is this?", wait: true, attachments: [{ path, name: "图 1.png", type: "image/png" }] }),
  ).toMatchObject([200, { answer: "Seen." }]);
  expect(model.requests[0]!.messages.at(-1)).toMatchObject({
    role: "user",
    content: [
      { type: "text", text: expect.stringMatching(/^\[/) },
      { type: "text", text: "What is this?" },
      { type: "text", text: `[attached: ${path} ("图 1.png", image/png, ${PNG.length} bytes)]` },
      { type: "image", mimeType: "image/png", data: PNG.toString("base64") },
    ],
  });
});

test("any other file is named only; a message may consist of files alone; the same content is kept once", async () => {
  const { upload, send, model, workspace } = await started();
  const [one, two] = [
    await upload("a.txt", "text/plain", Buffer.from("hi")),
    await upload("a.txt", "text/plain", Buffer.from("hi")),
  ];
  expect(one).toEqual(two);
  expect(readdirSync(join(workspace, "inbox"))).toHaveLength(1);
  const { path } = one.body.attachment;
  expect(await send({ wait: true, attachments: [{ path }] })).toMatchObject([200, {}]);
  expect(model.requests[0]!.messages.at(-1)!.content).toMatchObject([
    { text: expect.stringMatching(/^\[/) },
    { type: "text", text: expect.stringContaining(path) },
  ]);
});

test("a picture that is gone, or too large, is named as that, and the message is heard all the same", async () => {
  const { upload, send, model, workspace } = await started();
  const gone = (await upload("gone.png", "image/png", PNG)).body.attachment;
  // A picture by its beginning, and nothing that could be made smaller.
  const content = Buffer.concat([PNG.subarray(0, 33), Buffer.alloc(LIMITS.imageBytesMax, 1)]);
  const large = (await upload("large.png", "image/png", content)).body.attachment;
  const sent = send({ text: "Look", wait: true, attachments: [gone, large].map(({ path, type }) => ({ path, type })) });
  expect(await sent).toMatchObject([200, {}]);
  expect(model.requests[0]!.messages.at(-1)!.content).toMatchObject([
    { text: expect.stringMatching(/^\[/) },
    { text: "Look" },
    { text: expect.stringMatching(/gone\.png.*\n.*large\.png.*too large to be shown/) },
    { type: "image" },
  ]);
  rmSync(join(workspace, gone.path));
  expect(await send({ text: "Again", attachments: [{ path: gone.path }] })).toMatchObject([
    400,
    { error: { code: "attachment_unusable" } },
  ]);
});

test.each([
  ["../../etc/passwd", "passwd"],
  ["a/b\\c.tar.gz", "c.tar.gz"],
  [".bashrc", "bashrc"],
  ["…?*<>|.md", "md"],
  ["x".repeat(300), "x".repeat(40)],
])("the name %s becomes a harmless file in the inbox", async (name, kept) => {
  const { upload, workspace } = await started();
  const { status, body } = await upload(name, "text/plain", Buffer.from("x"));
  expect(status).toBe(201);
  expect(body.attachment.path.slice("inbox/".length + 13)).toBe(kept);
  expect(readdirSync(join(workspace, "inbox"))).toHaveLength(1);
});

test.each([
  ["nothing", "a.txt", Buffer.alloc(0), 400, "attachment_unusable"],
  ["more than is taken", "a.bin", Buffer.alloc(LIMITS.attachmentBytesMax + 1), 413, "body_too_large"],
  ["no name", "", Buffer.from("x"), 400, "bad_request"],
])("%s is refused and leaves nothing", async (_what, name, content, status, code) => {
  const { upload, workspace } = await started();
  expect(await upload(name, "text/plain", content)).toMatchObject({ status, body: { error: { code } } });
  expect(readdirSync(workspace)).not.toContain("inbox");
});

test("an inbox that leads elsewhere is not followed, and a message names nothing outside it", async () => {
  const { upload, send, workspace, home } = await started();
  mkdirSync(join(home, "elsewhere"));
  symlinkSync(join(home, "elsewhere"), join(workspace, "inbox"));
  expect(await upload("a.txt", "text/plain", Buffer.from("x"))).toMatchObject({ status: 400 });
  expect(readdirSync(join(home, "elsewhere"))).toEqual([]);
  for (const path of ["../credentials.json", "inbox/../../credentials.json", "AGENTS.md", "inbox/000000000000-/x"])
    expect(await send({ text: "x", attachments: [{ path }] })).toMatchObject([
      400,
      { error: { code: "attachment_unusable" } },
    ]);
});
