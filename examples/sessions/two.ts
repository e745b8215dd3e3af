/** Two processes on one conversation: one works at a time, both see everything. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openSessions } from "@holdfast/sessions";

const [name = "first"] = process.argv.slice(2);
await using sessions = await openSessions({ directory: "./my-sessions" });
await using session = await sessions.open("agent:main:main");

const claim = await session.claimTurn(name, 30_000);
console.log(name, claim.kind);

if (name === "first" && claim.kind === "claimed") {
  const other = [...process.execArgv, fileURLToPath(import.meta.url), "second"];
  process.stdout.write((await promisify(execFile)(process.execPath, other)).stdout);
  // Whoever holds the right stamps what they write with it; an older right is refused with `stale_turn`.
  const said = { type: "message", message: { role: "user", content: "from the first" } } as const;
  const { change } = await session.append(said, { right: claim.right });
  console.log("meanwhile:", change, (await session.context()).messages.length, "messages");
  await session.releaseTurn(claim.right);
} else {
  await session.append({ type: "message", message: { role: "user", content: "from the second" } });
}
