/** A process that exports a file and counts the bytes. Arguments: file, formats. */
import { type ExportFormat, exportTranscript } from "../../src/keeping/export.ts";

const [file = "", ...formats] = process.argv.slice(2);
for (const format of formats as ExportFormat[]) {
  let bytes = 0;
  for await (const piece of exportTranscript(file, { format })) bytes += Buffer.byteLength(piece);
  console.log(bytes);
}
