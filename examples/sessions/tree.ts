/** Nothing that was said is lost: branch, answer again, edit and resend, labels. */
import { answerAgain, branchesOf, editAndResend, labelEntry, openSessions } from "@holdfast/sessions";

await using sessions = await openSessions({ directory: "./my-sessions" });
await using session = await sessions.open("agent:main:main");

async function say(role: "user" | "assistant", text: string): Promise<string> {
  const { entries } = await session.append({ type: "message", message: { role, content: [{ type: "text", text }] } });
  return entries[0]!.id;
}

const question = await say("user", "A name for a boat?");
const answer = await say("assistant", "Nimbus.");

// Another answer to the same question: the first one stays, beside it.
await answerAgain(session, answer);
await say("assistant", "Holdfast.");

// Something else in place of the question itself.
await editAndResend(session, question, "A name for a cat?");
await say("assistant", "Socks.");

// Go on from anywhere. The choice is durable when this returns.
await session.branch(answer);
await labelEntry(session, answer, "the first idea");
await say("user", "Nimbus it is.");

const ends = await branchesOf(session).leaves();
for (const { differs, current } of ends) console.log(current ? "*" : " ", differs.words);
console.log(ends.length, "branches;", (await session.context()).messages.length, "messages in the context");
