/** What is done with whole conversations. Each act says what it did, or why it left everything as it was. */
import { openSessions, RETENTION } from "@holdfast/sessions";

await using sessions = await openSessions({ directory: "./my-sessions" });
const { keep } = sessions;

const first = await sessions.open("agent:main:main");
await first.append({ type: "message", message: { role: "user", content: "Remember the milk." } });

// A copy of the path under another key; from then on they go their own ways.
await keep.fork("agent:main:main", "agent:main:plan-b");
console.log((await (await sessions.open("agent:main:plan-b")).context()).messages.length, "message in the copy");

// Away until it is spoken to again: `open` brings it back, under the same id.
console.log("archive:", (await keep.archive("agent:main:main")).kind);
const again = await sessions.open("agent:main:main");
console.log("the same:", again.id === first.id, again.found);

// Begin anew under the same key. The old transcript goes into the archive and can be restored under another key.
const { before } = await keep.reset("agent:main:main");
console.log("reset:", before.kind, (await (await sessions.open("agent:main:main")).context()).messages.length);
const restored = await keep.restore(first.id, "agent:main:before");
console.log("restored:", restored.key);

// Ended: the row goes, the transcript stays in the archive.
console.log("clear:", (await keep.clear("agent:main:plan-b")).kind);

// 30 days, 100 MB, by the last time a person spoke. `dryRun` only reports.
const report = await keep.cleanup({ ...RETENTION, maxBytes: 0 }, { dryRun: true });
console.log("would go:", report.archived.map(({ key, why }) => `${key} (${why})`).join(", "));
