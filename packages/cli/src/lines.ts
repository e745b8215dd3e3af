/**
 * Lines from bytes as they arrive. Ended by LF, CRLF or CR; characters cut in two by a chunk border come out whole.
 */

/** The whole lines of each chunk together: what has arrived at once may be handled at once. Never yields an empty list. */
export async function* lineBatches(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<readonly string[]> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of bytes) {
    rest += decoder.decode(chunk, { stream: true });
    const parts = rest.split(/\r\n|\n|\r(?!$)/); // a CR at the end waits: a LF may follow
    rest = parts.pop() ?? "";
    if (parts.length > 0) yield parts;
  }
  rest += decoder.decode();
  if (rest !== "") yield [rest.replace(/\r$/, "")];
}

/** The same, one by one. */
export async function* lines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const batch of lineBatches(bytes)) yield* batch;
}
