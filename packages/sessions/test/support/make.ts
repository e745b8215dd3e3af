/** Small transcripts for tests, in the notation of the format: one function per kind of entry. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Entry, EntryMessage } from "../../src/entry.ts";

export const HEADER = {
  type: "session",
  version: 3,
  id: "s-1",
  timestamp: "2026-01-05T09:00:00.000Z",
  cwd: "/work",
} as const;

const TIME = "2026-01-05T09:00:01.000Z";
type Fields = Readonly<Record<string, unknown>>;
type Parent = string | null;

export function make(type: string, id: string, parentId: Parent, fields: Fields = {}): Entry {
  return { type, id, parentId, timestamp: TIME, ...fields };
}
export function message(id: string, parentId: Parent, body: EntryMessage | Fields, fields: Fields = {}): Entry {
  return make("message", id, parentId, { message: body, ...fields });
}
export function user(id: string, parentId: Parent, text: string, fields: Fields = {}): Entry {
  return message(id, parentId, { role: "user", content: [{ type: "text", text }], timestamp: 1 }, fields);
}
export function answer(id: string, parentId: Parent, text: string, fields: Fields = {}): Entry {
  const body = { role: "assistant", content: [{ type: "text", text }], provider: "p", model: "m", stopReason: "stop" };
  return message(id, parentId, body, fields);
}
export function call(id: string, parentId: Parent, calls: readonly string[], name = "read"): Entry {
  const content = calls.map((one) => ({ type: "toolCall", id: one, name, arguments: { path: one } }));
  return message(id, parentId, { role: "assistant", content, provider: "p", model: "m", stopReason: "toolUse" });
}
export function result(id: string, parentId: Parent, toolCallId: string, fields: Fields = {}): Entry {
  const content = [{ type: "text", text: `result of ${toolCallId}` }];
  return message(id, parentId, { role: "toolResult", toolCallId, toolName: "read", content, isError: false }, fields);
}
export function compaction(id: string, parentId: Parent, firstKeptEntryId: string, fields: Fields = {}): Entry {
  return make("compaction", id, parentId, { summary: `summary ${id}`, firstKeptEntryId, tokensBefore: 10, ...fields });
}
export function custom(
  id: string,
  parentId: Parent,
  customType: string,
  data: unknown = {},
  fields: Fields = {},
): Entry {
  return make("custom", id, parentId, { customType, data, ...fields });
}

/** The text of a file: header, then one line per entry. */
export function fileOf(entries: readonly unknown[], header: unknown = HEADER): string {
  return [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join("");
}

export interface TempDir extends AsyncDisposable {
  readonly path: string;
  write(name: string, data: string | Uint8Array): Promise<string>;
}

export async function tempDir(): Promise<TempDir> {
  const path = await mkdtemp(join(tmpdir(), "holdfast-"));
  return {
    path,
    async write(name, data) {
      await writeFile(join(path, name), data);
      return join(path, name);
    },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
