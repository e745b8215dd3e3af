/**
 * A conversation that holds: run it several times, kill it whenever you like; nothing acknowledged is lost.
 *
 *   node --conditions=holdfast-src examples/remember.ts ./my-sessions "buy milk"
 */
import { openSessions } from "@holdfast/sessions";

const [directory = "./my-sessions", text = "hello"] = process.argv.slice(2);

await using sessions = await openSessions({ directory });
await using session = await sessions.open("agent:main:main", { channel: "example", chatType: "direct" });

// Durable when this returns: what is printed now survives a kill and a power loss.
const { entries, durable } = await session.append({ type: "message", message: { role: "user", content: text } });
console.log(`${session.found} conversation, entry ${entries[0]?.id}, durable: ${durable}`);

const { messages } = await session.context();
for (const { role, content } of messages) console.log(`${role}: ${content}`);
