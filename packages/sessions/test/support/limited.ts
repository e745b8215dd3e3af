/**
 * Appends until its own file size limit stops it, then says with which code. Starts itself again under `ulimit -f`.
 * Arguments: directory, key.
 */
import { execFileSync } from "node:child_process";
import { writeSync } from "node:fs";
import { openSessions } from "@holdfast/sessions";

const [directory = "", key = "", limited] = process.argv.slice(2);
if (limited === undefined) {
  const again = [process.execPath, "--conditions=holdfast-src", process.argv[1], directory, key, "limited"];
  execFileSync("bash", ["-c", 'ulimit -f 64 && exec "$@"', "bash", ...again.map(String)], { stdio: "inherit" });
} else {
  // The signal would end the process; ignored, the write fails with EFBIG instead.
  process.on("SIGXFSZ", () => {});
  await using sessions = await openSessions({ directory });
  await using session = await sessions.open(key);
  for (let n = 0; n < 100; n++) {
    try {
      await session.append({ type: "message", id: `e-${n}`, message: { role: "user", content: "x".repeat(5000) } });
    } catch (error) {
      writeSync(1, `${(error as { code?: unknown }).code}\n`);
      break;
    }
    writeSync(1, `ack ${n}\n`);
  }
}
