/**
 * Takes the lock of argv[2], asks again while holding it, and prints both answers. `keep`: then holds it until killed;
 * `release`: gives it back, asks once more and prints that answer.
 */
import { tryFileLock } from "@holdfast/base";

const [path, then] = process.argv.slice(2);
const first = tryFileLock(path!);
console.log(`${first !== undefined} ${tryFileLock(path!) !== undefined}`);
if (then === "keep") setInterval(() => {}, 60_000);
else {
  first?.release();
  console.log(tryFileLock(path!) !== undefined);
}
