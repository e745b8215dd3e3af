/** Errors have closed codes; a refused append leaves no trace. */
import { openSessions, SessionError } from "@holdfast/sessions";

await using sessions = await openSessions({ directory: "./my-sessions" });
const session = await sessions.open("agent:main:main");
await session.append({
  type: "message",
  message: {
    role: "assistant",
    content: [{ type: "toolCall", id: "call-1", name: "write", arguments: { path: "todo.md" } }],
  },
});
const before = session.leaf();

try {
  // A provider rejects a history in which something stands between a call and its result.
  await session.append({ type: "message", message: { role: "user", content: "And?" } });
} catch (error) {
  if (!(error instanceof SessionError)) throw error;
  console.log(error.code, session.leaf() === before);
}
