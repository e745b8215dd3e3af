/**
 * Server-sent events from bytes, as the HTML standard reads them: `id`, `data`, comments, any line ending.
 * Pure over its input; characters cut in two by a chunk border come out whole.
 */
import { lines } from "./lines.ts";

export interface ServerEvent {
  readonly id: string | null;
  readonly data: string;
}

/** Yields one value per event. Ends when the bytes end; an event that was not finished by then is dropped. */
export async function* serverEvents(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<ServerEvent> {
  let id: string | null = null;
  let data: string[] = [];
  for await (const line of lines(bytes)) {
    if (line === "") {
      if (data.length > 0) yield { id, data: data.join("\n") };
      data = [];
      continue;
    }
    const [name, value] = field(line);
    if (name === "id") id = value;
    else if (name === "data") data.push(value);
  }
}

function field(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(":");
  if (colon === -1) return [line, ""];
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
}
