/**
 * A process that works under a turn right and stops itself (SIGSTOP) in the middle; woken, it goes on as if nothing were.
 * Arguments: file, mode, lease in milliseconds. Prints what became of its last append.
 */
import { writeSync } from "node:fs";
import { openTranscript, SessionError } from "@holdfast/sessions";

const [file = "", mode = "", leaseMs = "0"] = process.argv.slice(2);
await using session = await openTranscript(file, mode === "create" ? { writeLock: { mode } } : {});
const claim = await session.claimTurn("the one that freezes", Number(leaseMs));
if (claim.kind !== "claimed") throw new Error(`held by ${claim.by}`);
const { right } = claim;
const say = (id: string) => session.append({ type: "message", id, message: { role: "user", content: id } }, { right });
await say("before");
process.kill(process.pid, "SIGSTOP");
try {
  await say("after");
  writeSync(1, "appended\n");
} catch (error) {
  writeSync(1, `${error instanceof SessionError ? error.code : String(error)}\n`);
}
