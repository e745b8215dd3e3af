/**
 * A process that writes to the conversation of a flat file and says when it is done; to be killed. Arguments: directory,
 * folder of flat files, key, id of the entry.
 */
import { writeSync } from "node:fs";
import { openSessions } from "@holdfast/sessions";

const [directory = "", folder = "", key = "", id = ""] = process.argv.slice(2);
await using sessions = await openSessions({ directory, flatDirectories: [folder], onProblem: () => {} });
const session = await sessions.open(key);
await session.append({ type: "message", id, message: { role: "user", content: "on" } });
writeSync(1, "done\n");
