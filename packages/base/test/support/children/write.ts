/** Writes argv[3] to the file argv[2] as a whole, in a real world whose points the environment sets; says when it is done. */
import { realWorld, writeWhole } from "@holdfast/base";

await writeWhole(realWorld(), process.argv[2]!, process.argv[3]!);
console.log("done");
