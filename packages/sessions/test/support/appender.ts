/**
 * A process that appends and says what was acknowledged; to be killed. Arguments: directory, key, first number, count.
 * Entries get the ids `e-<n>`; a line `ack <n>` is printed after each acknowledgement.
 */
import { writeSync } from "node:fs";
import { openSessions } from "@holdfast/sessions";

const [directory = "", key = "", first = "0", count = "0", prefix = "e"] = process.argv.slice(2);
await using sessions = await openSessions({ directory });
await using session = await sessions.open(key);
writeSync(1, `session ${session.id}\n`);
for (let n = Number(first); n < Number(first) + Number(count); n++) {
  const id = `${prefix}-${n}`;
  await session.append({ type: "message", id, message: { role: "user", content: `${id} ${"x".repeat(n % 300)}` } });
  if (n % 3 === 0) await sessions.update(key, { [id]: n });
  writeSync(1, `ack ${n}\n`);
}
