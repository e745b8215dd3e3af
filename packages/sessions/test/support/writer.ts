/**
 * A process that appends to one transcript under a lock mode, and may stop itself; to be killed, stopped and woken.
 * Arguments: file, mode, prefix of the ids, first number, count, and a point at which it stops itself once (SIGSTOP).
 * Prints `start` before it opens, `ack <id>` after each acknowledgement, `refused <code>` and goes on opened again.
 */
import { writeSync } from "node:fs";
import { realWorld } from "@holdfast/base";
import { openTranscript, type Session, SessionError } from "@holdfast/sessions";

const [file = "", mode = "kernel", prefix = "", first = "0", count = "0", stopAt = ""] = process.argv.slice(2);
let armed = false;
const world = realWorld((point) => {
  if (!armed || point !== stopAt) return;
  armed = false;
  process.kill(process.pid, "SIGSTOP");
});
const writeLock = mode === "create" ? { mode, timeoutMs: 30_000 } : { timeoutMs: 30_000 };
const open = (): Promise<Session> => openTranscript(file, { writeLock: writeLock as { mode?: "create" } }, world);

writeSync(1, "start\n");
let session = await open();
for (let n = Number(first); n < Number(first) + Number(count); n++) {
  const id = `${prefix}${n}`;
  armed = stopAt !== "" && n === Number(first) + 1;
  try {
    await session.append({ type: "message", id, message: { role: "user", content: id } });
    writeSync(1, `ack ${id}\n`);
  } catch (error) {
    if (!(error instanceof SessionError)) throw error;
    writeSync(1, `refused ${error.code}\n`);
    session = await open();
  }
}
await session.close();
