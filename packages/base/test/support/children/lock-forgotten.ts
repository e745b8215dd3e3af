/** Takes the lock of argv[2], keeps no reference to it, and has memory collected (--expose-gc); then stays until killed. */
import { tryFileLock } from "@holdfast/base";

tryFileLock(process.argv[2]!);
for (let round = 0; round < 5; round++) await globalThis.gc?.({ execution: "async" });
console.log(globalThis.gc === undefined ? "no gc" : "collected");
setInterval(() => {}, 60_000);
