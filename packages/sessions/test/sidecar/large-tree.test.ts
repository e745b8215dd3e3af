/**
 * Questions about a tree of very many entries: answered without reading what they are not about, as the bytes that are read
 * through the disk port show. HOLDFAST_LARGE=1 takes 100,000 siblings and a path of a million.
 */
import { closeSync, openSync, statSync, writeSync } from "node:fs";
import { realWorld } from "@holdfast/base";
import { answerAgain, editContext, type Session, type Sessions } from "@holdfast/sessions";
import { openSessionsOn } from "@holdfast/sessions/internal";
import { afterAll, beforeAll, expect, test } from "vitest";
import { countingDisk } from "../support/counting-disk.ts";
import { type TestDirectory, testDirectory } from "../support/directories.ts";

const [SIBLINGS, PATH] = process.env.HOLDFAST_LARGE === "1" ? [100_000, 1_000_000] : [20_000, 50_000];
const KEY = "agent:main:main";
const TIME = "2026-01-05T09:00:00.000Z";
const WORDS = "x".repeat(200);

let directory: TestDirectory;
let sessions: Sessions;
let session: Session;
let size: number;
const { disk, taken } = countingDisk();

/** root; its children s0, s1, ...; and the path p0, p1, ... from it, compacted near its end, where the conversation stands. */
function writeTree(file: string): void {
  const fd = openSync(file, "a");
  let text = "";
  const line = (entry: object): void => {
    text += `${JSON.stringify(entry)}\n`;
    if (text.length < 2 ** 20) return;
    writeSync(fd, text);
    text = "";
  };
  const say = (id: string, parentId: string | null, role = "user"): void => {
    const content = [{ type: "text", text: `${id} ${WORDS}` }];
    const by = role === "user" ? {} : { provider: "p", model: "m", stopReason: "stop" };
    line({ type: "message", id, parentId, timestamp: TIME, message: { role, content, ...by } });
  };
  say("root", null);
  line({ type: "session_info", id: "named", parentId: "root", timestamp: TIME, name: "the large one" });
  line({ type: "thinking_level_change", id: "level", parentId: "named", timestamp: TIME, thinkingLevel: "high" });
  for (let n = 0; n < SIBLINGS; n++) say(`s${n}`, "level");
  line({
    type: "label",
    id: "label",
    parentId: `s${SIBLINGS - 1}`,
    timestamp: TIME,
    targetId: "s7",
    label: "the seventh",
  });
  for (let n = 0; n < PATH; n++) say(`p${n}`, n === 0 ? "level" : `p${n - 1}`, n % 2 === 0 ? "user" : "assistant");
  const kept = { firstKeptEntryId: `p${PATH - 5}`, summary: "all before", tokensBefore: 1 };
  line({ type: "compaction", id: "compaction", parentId: `p${PATH - 1}`, timestamp: TIME, ...kept });
  say("end", "compaction");
  writeSync(fd, text);
  closeSync(fd);
}

async function reopen(): Promise<void> {
  await sessions?.close();
  sessions = await openSessionsOn(disk, { directory: directory.path, fsync: "never" }, realWorld());
  session = await sessions.open(KEY);
}

beforeAll(async () => {
  directory = await testDirectory();
  await reopen();
  writeTree(session.file ?? "");
  size = statSync(session.file ?? "").size;
  await reopen();
  // The first question makes the index beside the transcript.
  await session.tree.children(null, { limit: 1 });
  await reopen();
}, 120_000);
afterAll(async () => {
  await sessions.close();
  await directory[Symbol.asyncDispose]();
});

/** What an answer costs: bytes of the transcript, once the index was loaded. */
async function costOf<T>(ask: () => Promise<T>): Promise<{ readonly answer: T; readonly bytes: number }> {
  await session.tree.commonAncestor("root", "root");
  taken(".jsonl");
  const answer = await ask();
  return { answer, bytes: taken(".jsonl") };
}

const PAGE_BYTES = 512 * 1024;

test("opening reads the end of the transcript, and the index when it is asked for", async () => {
  taken(".jsonl");
  taken(".idx");
  await reopen();
  expect((await session.context()).messages).toHaveLength(7);
  expect(taken(".jsonl")).toBeLessThan(PAGE_BYTES);
  await session.tree.commonAncestor("root", "end");
  expect([taken(".idx") > 40 * (SIBLINGS + PATH), taken(".jsonl") < PAGE_BYTES]).toEqual([true, true]);
});

test("pages of ends, with their last activity, are read alone", async () => {
  const first = await costOf(() => session.tree.ends({ limit: 50 }));
  expect(first.answer).toHaveLength(50);
  const seventh = { id: "s7", label: "the seventh", lastActivity: TIME, depth: 2, current: false };
  expect(first.answer[7]).toMatchObject({ ...seventh, differs: { id: "s7", role: "user" } });
  const after = first.answer.at(-1)?.id ?? "";
  const next = await costOf(() => session.tree.ends({ after, limit: 50 }));
  expect(next.answer.map(({ id }) => id)).toEqual(Array.from({ length: 50 }, (_, n) => `s${n + 50}`));
  const last = await costOf(() => session.tree.ends({ after: `s${SIBLINGS - 1}` }));
  expect(last.answer).toMatchObject([{ id: "end", current: true, depth: PATH + 2, differs: { id: "p0" } }]);
  for (const { bytes } of [first, next, last]) expect(bytes).toBeLessThan(PAGE_BYTES);
  expect(size).toBeGreaterThan(20 * PAGE_BYTES);
});

test("children in order, page by page, are read alone", async () => {
  const after = `s${SIBLINGS - 3}`;
  type List = (
    id: string,
    page: { readonly after?: string; readonly limit?: number },
  ) => Promise<readonly { id: string }[]>;
  const lists: readonly List[] = [session.tree.children, session.tree.saidAfter];
  for (const list of lists) {
    const first = await costOf(() => list("level", { limit: 3 }));
    expect(first.answer.map(({ id }) => id)).toEqual(["s0", "s1", "s2"]);
    const last = await costOf(() => list("level", { after }));
    expect(last.answer.map(({ id }) => id)).toEqual([`s${SIBLINGS - 2}`, `s${SIBLINGS - 1}`, "p0"]);
    expect(first.bytes + last.bytes).toBeLessThan(PAGE_BYTES);
  }
});

test("the common ancestor of entries a long way apart, and the settings and the name from the beginning", async () => {
  const common = await costOf(() => session.tree.commonAncestor("s5", "end"));
  expect(common.answer?.id).toBe("level");
  const settings = await costOf(() => session.tree.settings());
  expect(settings.answer).toEqual({
    model: { provider: "p", modelId: "m" },
    thinkingLevel: "high",
    name: "the large one",
  });
  const leaves = await costOf(() => session.tree.leaves({ limit: 20 }));
  expect(leaves.answer).toHaveLength(20);
  const above = await costOf(() => session.tree.ancestors("end", { limit: 20 }));
  expect(above.answer.at(0)?.id).toBe("compaction");
  for (const { bytes } of [common, settings, leaves, above]) expect(bytes).toBeLessThan(PAGE_BYTES);
});

test("an entry far above what is loaded is edited, and one beside the path is not", async () => {
  const edited = await costOf(() => editContext(session, "p5", null));
  expect(edited.answer.entries).toHaveLength(1);
  const refused = await costOf(() => editContext(session, "s5", null).catch(({ code }: { code: unknown }) => code));
  expect(refused.answer).toBe("bad_entry");
  const moved = await costOf(() => answerAgain(session, "p9"));
  expect([moved.answer.question, (await session.context()).messages.length]).toEqual(["p8", 10]);
  const looked = await costOf(() => session.context({ leaf: "p20" }));
  expect(looked.answer.messages).toHaveLength(22);
  for (const { bytes } of [edited, refused, moved, looked]) expect(bytes).toBeLessThan(8 * PAGE_BYTES);
});
