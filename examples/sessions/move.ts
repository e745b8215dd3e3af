/** Out and in again: export streams, import is idempotent and only reads its source. */
import { createWriteStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { openSessions } from "@holdfast/sessions";
import { exportTranscript, importHistory, openImportPlace } from "@holdfast/sessions/keeping";

await using sessions = await openSessions({ directory: "./old" });
const session = await sessions.open("agent:main:main");
await session.append({ type: "message", message: { role: "user", content: "Take me with you." } });

const pieces = exportTranscript(session.file!, { format: "json", about: { key: session.key } });
await pipeline(Readable.from(pieces), createWriteStream("./talk.json"));

await using place = await openImportPlace("./new", ({ what }) => console.warn(what));
const request = { file: "./talk.json", key: "agent:main:main" };
console.log("first:", (await importHistory(place, request)).kind);
console.log("again:", (await importHistory(place, request)).kind);
