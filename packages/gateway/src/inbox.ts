/**
 * Files that come with messages: kept in `inbox/` of the agent's workspace, where its tools can read them.
 *
 * Invariant: a file is whole and on the disk before anybody is told its path, so an accepted message never names one that a
 * power loss took; the same content is kept once.
 */
import { createHash } from "node:crypto";
import { realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import type { Attachment } from "@holdfast/agent";
import { LIMITS, makePrivateDirectory, messageOf, syncDirectory, type World, writeWhole } from "@holdfast/base";
import { GatewayError } from "./errors.ts";

const FOLDER = "inbox";
const HASH_CHARS = 12;
const NAME_CHARS_MAX = 80;
const PATH = new RegExp(`^${FOLDER}/[0-9a-f]{${HASH_CHARS}}-[^/\\\\\\0]{1,${NAME_CHARS_MAX}}$`, "u");
const MIME = /^[\w.+-]{1,64}\/[\w.+-]{1,64}$/u;

export interface Incoming {
  readonly name: string;
  readonly type: string;
  readonly content: Uint8Array;
}

/** Durable when it resolves. Throws `attachment_unusable`. */
export async function keepAttachment(
  { name, type, content }: Incoming,
  { workspace, world }: { readonly workspace: string; readonly world: World },
): Promise<Attachment> {
  if (content.length === 0) throw unusable(name, "it is empty");
  if (content.length > LIMITS.attachmentBytesMax) throw unusable(name, `more than ${LIMITS.attachmentBytesMax} bytes`);
  const hash = createHash("sha256").update(content).digest("hex").slice(0, HASH_CHARS);
  const path = `${FOLDER}/${hash}-${fileName(name)}`;
  try {
    const folder = join(workspace, FOLDER);
    await makePrivateDirectory(folder);
    if (!(await realpath(folder)).startsWith((await realpath(workspace)) + sep))
      throw unusable(name, "inbox/ leads out of the workspace");
    const known = await stat(join(workspace, path)).catch(() => null);
    // What is there already was synced by whoever put it there; its name may not be.
    if (known?.isFile() && known.size === content.length) await syncDirectory(folder);
    else await writeWhole(world, join(workspace, path), content);
    await syncDirectory(workspace);
  } catch (error) {
    throw error instanceof GatewayError ? error : unusable(name, messageOf(error), error);
  }
  return { name: shown(name), type: MIME.test(type) ? type : "application/octet-stream", bytes: content.length, path };
}

export interface Named {
  readonly path: string;
  readonly name?: string | undefined;
  readonly type?: string | undefined;
}

/** A file that was kept before, named again by whoever sends the message. Throws `attachment_unusable`. */
export async function keptAttachment({ path, name, type }: Named, workspace: string): Promise<Attachment> {
  const called = shown(name ?? path.slice(FOLDER.length + HASH_CHARS + 2));
  const found = PATH.test(path) ? await stat(join(workspace, path)).catch(() => null) : null;
  if (!found?.isFile())
    throw unusable(called === "" ? path : called, "there is no such file in the inbox; upload it first");
  return {
    name: called,
    type: type !== undefined && MIME.test(type) ? type : "application/octet-stream",
    bytes: found.size,
    path,
  };
}

/** Letters and digits of any script, and what a file name may hold everywhere. */
function fileName(name: string): string {
  const last = name.normalize("NFC").split(/[/\\]/u).at(-1) ?? "";
  const safe = last.replace(/[^\p{L}\p{M}\p{N}._-]+/gu, "_").replace(/^[._]+/u, "");
  const dot = safe.lastIndexOf(".");
  const ending = dot > 0 && safe.length - dot <= 10 ? safe.slice(dot) : "";
  const stem = [...safe.slice(0, safe.length - ending.length)].slice(0, NAME_CHARS_MAX / 2).join("");
  return `${stem === "" ? "file" : stem}${ending}`;
}

function shown(name: string): string {
  return [...name.replace(/[\p{Cc}"[\]]+/gu, " ").toWellFormed()].slice(0, 200).join("").trim();
}

function unusable(name: string, why: string, cause?: unknown): GatewayError {
  return new GatewayError("attachment_unusable", { name: shown(name), why }, cause);
}
