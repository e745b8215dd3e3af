/**
 * Stories about whole conversations: ended, put away, brought back, copied, repaired, carried in, read through an index.
 */
import type { DiskImage } from "../disk/image.ts";
import { synced, written } from "../disk/content.ts";
import type { History } from "../history/history.ts";
import { type Client, DIRECTORY } from "./client.ts";
import { archive, cleanup, clear, fork, importFile, repair, reset, restore } from "./keeping-acts.ts";
import { look } from "./look.ts";
import { NOTHING_DUE, type Recovery, TALK, TIDY } from "./recoveries.ts";
import { MAIN, OTHER, type Scenario, someTalk } from "./scenarios.ts";

const BOTH = [TALK, TIDY];
const DAY_MS = 24 * 60 * 60 * 1000;
const COPY = "agent:main:cli:direct:copy";

/** Long enough for an index beside the transcript. */
const LONG_TEXT = 90_000;

async function longTalk(client: Client): Promise<void> {
  await client.appendLong(MAIN, LONG_TEXT, "s1");
  await client.appendLong(MAIN, LONG_TEXT, "s2");
  await client.appendLong(MAIN, LONG_TEXT, "s3");
}

/** Reads, writes, reads. */
const LOOKING: Recovery = {
  name: "look",
  tidies: false,
  async run(client, [key = MAIN], name) {
    await look(client, key);
    await client.append(key, `${name}-${key}`);
    await look(client, key);
    await client.close();
  },
};

const line = (value: unknown): string => `${JSON.stringify(value)}\n`;
const TIME = "2026-01-01T00:00:00.000Z";

function message(id: string, parentId: string | null): string {
  return line({ type: "message", id, parentId, timestamp: TIME, message: { role: "user", content: id, timestamp: 1 } });
}

/** A file that another program wrote, or that a machine spoiled. */
function place(image: DiskImage, path: string, text: string): void {
  const parts = path.split("/").slice(1, -1);
  for (const [index] of parts.entries()) {
    const directory = `/${parts.slice(0, index + 1).join("/")}`;
    if (image.find(directory) === undefined) image.makeDirectory(directory);
    image.names.sync(image.at(directory.slice(0, directory.lastIndexOf("/")) || "/"));
  }
  const ino = image.create(path);
  image.write(ino, (content) => synced(written(content, 0, Buffer.from(text))));
  image.names.sync(image.at(path.slice(0, path.lastIndexOf("/"))));
}

const HEADER = { type: "session", version: 3, id: "odd", timestamp: TIME, cwd: "/work" };
const ABOUT = {
  type: "custom",
  customType: "holdfast:session",
  data: { key: MAIN, agentId: "main" },
  id: "o1",
  parentId: null,
  timestamp: TIME,
};
const SOUND_IDS = ["o1", "o2", "o3", "o4"];

/** A line that is none, NULs, a carriage return, a blank line, a repetition, and a tail that is cut. */
const ODD = [
  line(HEADER),
  line(ABOUT),
  message("o2", "o1").replace("\n", "\r\n"),
  "{ this is no line\n",
  `\0\0\0\0${message("o3", "o2")}`,
  "\n",
  message("o3", "o2"),
  message("o4", "o3"),
  '{"type":"message","id":"o5","parentId":"o4","mess',
].join("");

/** What is on the disk counts as told: whoever wrote it is gone. */
function oddConversation(image: DiskImage, history: History): void {
  const row = { sessionId: "odd", sessionFile: "odd.jsonl", updatedAt: 1 };
  place(image, `${DIRECTORY}/sessions.json`, `${JSON.stringify({ [MAIN]: row })}\n`);
  place(image, `${DIRECTORY}/odd.jsonl`, ODD.replace(`\0\0\0\0${message("o3", "o2")}`, "\0\0\0\0\n"));
  const answer = history.ask({ process: "other", what: "import", key: MAIN, ids: SOUND_IDS });
  answer({ done: { sessionId: "odd", entries: [], place: "live" } });
}

const OUTSIDE = "/home/other/history.jsonl";
const OUTSIDE_IDS = ["i1", "i2", "i3"];
const outsideText = [
  line({ ...HEADER, id: "outside" }),
  message("i1", null),
  message("i2", "i1"),
  message("i3", "i2"),
].join("");

export const KEEPING_SCENARIOS: readonly Scenario[] = [
  {
    name: "archive",
    before: someTalk,
    run: (client) => archive(client, MAIN),
    recoveries: BOTH,
  },
  {
    name: "restore",
    before: async (client) => {
      await someTalk(client);
      await archive(client, MAIN);
    },
    run: async (client) => {
      await restore(client, MAIN);
      await client.append(MAIN, "a1");
    },
    recoveries: BOTH,
  },
  {
    name: "reset",
    before: someTalk,
    run: async (client) => {
      await reset(client, MAIN);
      await client.append(MAIN, "a1");
    },
    recoveries: BOTH,
  },
  {
    name: "clear",
    before: someTalk,
    run: async (client) => {
      await clear(client, MAIN);
      await client.append(MAIN, "a1");
    },
    recoveries: BOTH,
  },
  {
    name: "take back what was ended",
    before: async (client) => {
      await someTalk(client);
      await clear(client, MAIN);
    },
    run: async (client) => {
      const [ended] = client.outside.facts().transcripts.keys();
      await restore(client, MAIN, ended);
      await client.append(MAIN, "a1");
    },
    recoveries: BOTH,
  },
  {
    name: "retention",
    before: async (client) => {
      await someTalk(client);
      await client.append(OTHER, "s3");
      await client.process.world.sleep(40 * DAY_MS);
      await client.append(OTHER, "s4");
    },
    run: async (client) => {
      await cleanup(client, [MAIN, OTHER], { ...NOTHING_DUE, maxAgeMs: 30 * DAY_MS });
      await client.append(MAIN, "a1");
    },
    recoveries: BOTH,
  },
  {
    name: "fork",
    before: someTalk,
    run: async (client) => {
      await fork(client, MAIN, COPY, ["s1", "s2"]);
      await client.append(COPY, "a1");
    },
    recoveries: BOTH,
  },
  {
    name: "index beside the transcript",
    before: longTalk,
    run: async (client) => {
      await look(client, MAIN);
      await client.append(MAIN, "a1");
      await client.branch(MAIN, "s2");
      await look(client, MAIN);
    },
    recoveries: [LOOKING],
  },
  {
    name: "open a damaged file",
    prepare: oddConversation,
    run: async (client) => {
      await look(client, MAIN);
      await client.append(MAIN, "a1");
      await look(client, MAIN);
    },
    odd: ["odd"],
    recoveries: [LOOKING],
  },
  {
    name: "repair",
    prepare: (image) => place(image, "/home/other/odd.jsonl", ODD),
    run: (client) => repair(client, "/home/other/odd.jsonl", SOUND_IDS),
    originals: ["/home/other/odd.jsonl"],
    recoveries: [{ name: "again", tidies: false, run: (client) => repair(client, "/home/other/odd.jsonl", SOUND_IDS) }],
  },
  {
    name: "import",
    prepare: (image) => place(image, OUTSIDE, outsideText),
    run: async (client) => {
      await importFile(client, OTHER, OUTSIDE, OUTSIDE_IDS);
      await client.append(OTHER, "a1");
    },
    originals: [OUTSIDE],
    recoveries: [
      TIDY,
      {
        name: "again",
        tidies: false,
        run: async (client, _keys, name) => {
          await importFile(client, OTHER, OUTSIDE, OUTSIDE_IDS);
          await client.append(OTHER, `${name}-${OTHER}`);
          await client.close();
        },
      },
    ],
  },
];
