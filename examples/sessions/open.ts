/** Open a conversation, append to it, and get what a model should see. */
import { openSessions } from "@holdfast/sessions";

await using sessions = await openSessions({ directory: "./my-sessions" });
await using session = await sessions.open("agent:main:main", { channel: "example", chatType: "direct" });

const asked = await session.append({ type: "message", message: { role: "user", content: "Three to-dos, please." } });
console.log(session.found, asked.durable);

// Several entries of one call are one write: all of them are there after a kill, or the first few, never a half line.
await session.append([
  { type: "message", message: { role: "assistant", content: [{ type: "text", text: "1. call 2. write 3. sleep" }] } },
  { type: "message", message: { role: "user", content: "The second one, split it finer." } },
]);

const { messages, report } = await session.context({ maxMessages: 2 });
console.log(messages.map(({ role }) => role).join(" "), "of", session.path().length, "entries");
console.log(report.leftOut.map(({ why }) => why).join("; "));
