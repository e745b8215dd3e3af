/** Takes the lock of argv[2], notes its pid, says so, and keeps it until killed or its stdout closes. Says `busy` otherwise. */
import { kernelLockAvailable, tryFileLock } from "@holdfast/base";

const lock = tryFileLock(process.argv[2]!);
lock?.note({ pid: process.pid });
console.log(`${lock === undefined ? "busy" : "locked"} ${kernelLockAvailable() ? "kernel" : "sqlite"}`);
if (lock !== undefined) setInterval(() => {}, 60_000);
