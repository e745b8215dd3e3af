/**
 * A process that appends to one transcript that has an index beside it, and looks entries up; to be killed. Arguments:
 * file, prefix of the ids, count. Prints `ack <id>` after each acknowledgement.
 */
import { writeSync } from "node:fs";
import { openTranscript } from "@holdfast/sessions";

const [file = "", prefix = "", count = "0"] = process.argv.slice(2);
await using session = await openTranscript(file);
await session.entry("nobody");
for (let n = 0; n < Number(count); n++) {
  const id = `${prefix}${n}`;
  await session.append({ type: "message", id, message: { role: "user", content: id } });
  writeSync(1, `ack ${id}\n`);
}
