/** A damaged transcript is read as far as it goes, and repaired beside itself. */
import { appendFile } from "node:fs/promises";
import { basename } from "node:path";
import { openTranscript } from "@holdfast/sessions";
import { contextOfTranscript, repairTranscript, verifyTranscript } from "@holdfast/sessions/keeping";

await using session = await openTranscript("./talk.jsonl", { create: true });
await session.append({ type: "message", message: { role: "user", content: "Before the power went." } });
await appendFile("./talk.jsonl", '{"type":"message","id":"x","mess'); // what a crash of another program leaves

const { ok, entries, damaged } = await verifyTranscript("./talk.jsonl");
console.log("ok:", ok, "entries:", entries, "damaged:", damaged.map(({ line, why }) => `line ${line}: ${why}`).join());
console.log("messages:", (await contextOfTranscript("./talk.jsonl")).messages.length);

const { repaired, damaged: bytes } = await repairTranscript("./talk.jsonl");
console.log("written:", basename(repaired!), basename(bytes!));
console.log("ok:", (await verifyTranscript(repaired!)).ok);
