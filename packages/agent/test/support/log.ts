/** Small builders of transcript entries, so that a test reads like the log it is about. */
import type { Entry } from "@holdfast/sessions";

const TIME = "2026-06-21T13:01:34.832Z";

/** Gives each entry the one before it as parent, unless it names one. */
export function chain(...entries: readonly (Record<string, unknown> & { readonly id: string })[]): Entry[] {
  let before: string | null = null;
  return entries.map((entry) => {
    const made = { timestamp: TIME, parentId: before, ...entry } as unknown as Entry;
    before = entry.id;
    return made;
  });
}

export function user(id: string, key: string | undefined = undefined, text = id) {
  return { type: "message", id, message: { role: "user", content: [{ type: "text", text }], ...(key && { key }) } };
}

export function call(id: string, name = "write", args: Record<string, unknown> = {}) {
  return { type: "toolCall", id, name, arguments: args };
}

export function answer(id: string, more: Record<string, unknown> = {}, ...calls: readonly ReturnType<typeof call>[]) {
  const { stopReason = calls.length > 0 ? "toolUse" : "stop", text = `says ${id}`, ...fields } = more;
  const content = [...(calls.length > 0 ? [] : [{ type: "text", text }]), ...calls];
  return { type: "message", id, message: { role: "assistant", content, stopReason }, ...fields };
}

/** Ours when `of` names the call, another program's when it is left out. */
export function result(
  id: string,
  toolCallId: string,
  of?: readonly [entryId: string, ordinal: number],
  details?: unknown,
) {
  return {
    type: "message",
    id,
    message: {
      role: "toolResult",
      toolCallId,
      toolName: "write",
      content: [],
      isError: false,
      ...(details !== undefined && { details }),
    },
    ...(of && { call: { entryId: of[0], ordinal: of[1] } }),
  };
}

export function custom(id: string, customType: string, data: unknown = {}) {
  return { type: "custom", id, customType, data };
}
