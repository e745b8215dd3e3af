/**
 * A process that does one act of keeping and says when it is done; to be killed. Arguments: directory, act, key.
 */
import { writeSync } from "node:fs";
import { openSessions } from "@holdfast/sessions";

const [directory = "", act = "", key = ""] = process.argv.slice(2);
await using sessions = await openSessions({ directory, onProblem: () => {} });
if (act === "archive") await sessions.keep.archive(key);
else if (act === "restore") await sessions.keep.restore(key);
else if (act === "clear") await sessions.keep.clear(key);
else if (act === "reset") await sessions.keep.reset(key);
else if (act === "fork") await sessions.keep.fork(key, `${key}:copy`);
else if (act === "open") await sessions.open(key);
else throw new TypeError(`no act ${act}`);
writeSync(1, "done\n");
