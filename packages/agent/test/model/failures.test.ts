/**
 * Everything a provider can do wrong, in each protocol, against a local server; what becomes of it is the table of
 * docs/guide/model-failures.md, which this test writes (HOLDFAST_UPDATE_DOCS=1) and compares.
 */
import { createServer, type ServerResponse } from "node:http";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { PATIENCE } from "../../src/model/piai/limits.ts";
import { piaiModel } from "../../src/model/piai/model.ts";
import { Rests } from "../../src/model/route/rests.ts";
import type { Candidate } from "../../src/model/route/route.ts";
import { routedModel } from "../../src/model/route/routed.ts";
import { say, scriptedModel } from "../../src/model/scripted.ts";
import { DIALECTS, type Dialect } from "../support/dialects.ts";
import { entriesOf, laneOf, outline } from "../support/agent.ts";
import { type Stage, stage } from "../support/stage.ts";

const PAGE = new URL("../../../../docs/guide/model-failures.md", import.meta.url);
const KEY = "sk-very-secret-0123456789";
/** For those that say nothing; all others may take their time on a busy machine. */
const SHORT = { ...PATIENCE, headersMs: 150, firstTokenMs: 150, idleMs: 150 };
const SILENT: ReadonlySet<string> = new Set(["no headers", "headers, then silence", "silence in the middle of a call"]);

type Plays = (response: ServerResponse, dialect: Dialect) => void;

const refuses =
  (status: number, message: string, headers: Record<string, string> = {}): Plays =>
  (response, dialect) => {
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(dialect.refusal(status, message));
  };
const streams =
  (frames: (dialect: Dialect) => readonly string[], end: "end" | "cut" | "stall" = "end"): Plays =>
  (response, dialect) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(frames(dialect).join(""), () => {
      if (end === "end") response.end();
      if (end === "cut") response.socket?.destroy();
    });
  };
const half = { text: ["So f"], call: { id: "call00001", name: "exec", pieces: ['{"command":"rm'] } } as const;

/** What is played, by what a person would call it. */
const FAILURES: readonly (readonly [string, Plays])[] = [
  ["401, the key is refused", refuses(401, "invalid api key")],
  ["402, no money", refuses(402, "insufficient balance")],
  ["403, not allowed", refuses(403, "no access to this model")],
  ["404, no such model", refuses(404, "model not found")],
  ["400, a field is wrong", refuses(400, "messages.3: bad field")],
  ["400, content filter", refuses(400, "blocked by our content_policy")],
  ["413, too large", refuses(413, "payload too large")],
  ["429, come back in 7 s", refuses(429, "slow down", { "retry-after": "7" })],
  ["429, without a time", refuses(429, "too many requests")],
  ["429, the quota is used up", refuses(429, "You exceeded your current quota")],
  ["500", refuses(500, "internal server error")],
  ["503, overloaded", refuses(503, "overloaded")],
  ["504, a gateway's timeout", refuses(504, "upstream timed out")],
  [
    "502, a page in HTML",
    (response) => response.writeHead(502, { "content-type": "text/html" }).end("<h1>Bad gateway</h1>"),
  ],
  ["the connection is closed before a word", (response) => void response.socket?.destroy()],
  ["no headers", () => {}],
  ["headers, then silence", streams(() => [], "stall")],
  ["silence in the middle of a call", streams((dialect) => dialect.frames({ ...half, end: "none" }), "stall")],
  ["cut in the middle of a call", streams((dialect) => dialect.frames({ ...half, end: "none" }), "cut")],
  ["an end without an end, in the middle of a call", streams((dialect) => dialect.frames({ ...half, end: "none" }))],
  ["an empty stream", streams(() => [])],
  ["an answer without a word", streams((dialect) => dialect.frames({}))],
  ["no JSON in the stream", streams(() => ["data: {oops\n\n"])],
];

async function providerThat(plays: Plays, dialect: Dialect) {
  const seen = { requests: 0 };
  const server = createServer((request, response) => {
    seen.requests += 1;
    request.resume();
    request.on("end", () => plays(response, dialect));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    seen,
    baseUrl: `http://127.0.0.1:${port}${dialect.base}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface Row {
  readonly code: string;
  readonly requests: number;
  /** Without a fallback, and with one. */
  readonly alone: string;
  readonly helped: string;
  readonly rest: string;
}

async function played(name: string, plays: Plays, dialect: Dialect): Promise<Row> {
  await using server = await providerThat(plays, dialect);
  const place = {
    provider: "local",
    model: "m",
    baseUrl: server.baseUrl,
    apiKey: KEY,
    api: dialect.api,
    catalog: null,
  };
  const candidateOn = ({ world }: Stage): Candidate => ({
    ...place,
    credential: KEY,
    asks: piaiModel({
      ...place,
      world,
      contextWindow: null,
      maxTokens: null,
      limits: SILENT.has(name) ? SHORT : PATIENCE,
    }),
  });
  await using on = await stage();
  const rests = new Rests(on.world);
  const alone = await ended(on, routedModel([candidateOn(on)], { rests, world: on.world }));
  const { requests } = server.seen;
  const standing = rests.standing(candidateOn(on));
  await using other = await stage();
  const second: Candidate = {
    provider: "two",
    model: "m",
    credential: "k",
    asks: { ...scriptedModel([say("helped")]), name: "two/m" },
  };
  const helped = await ended(
    other,
    routedModel([candidateOn(other), second], { rests: new Rests(other.world), world: other.world }),
  );
  const rest =
    standing.kind === "free"
      ? "no"
      : `${Math.round(((standing.kind === "tired" ? standing.untilMs : standing.rest.untilMs) - on.world.ms) / 1000)} s${standing.kind === "rests" ? ", not asked" : ""}`;
  expect(
    alone.log.filter((one) => one === "answer" || one === "calls"),
    "nothing that is no answer",
  ).toEqual([]);
  expect(JSON.stringify([alone, helped])).not.toContain(KEY);
  return { code: alone.code, requests, alone: alone.said, helped: helped.said, rest };
}

async function ended(on: Stage, model: ReturnType<typeof routedModel>) {
  const lane = laneOf("hi");
  const outcome = await on.run(lane, [], { model });
  const entries = await entriesOf(on.sessions);
  const [reply] = lane.finished;
  const attempts = entries.flatMap((entry) => {
    const { customType, data } = entry as { customType?: string; data?: { code?: string } };
    return customType === "holdfast:attempt" ? [String(data?.code)] : [];
  });
  const failure = entries.map((entry) => (entry as { failure?: string }).failure).find((one) => one !== undefined);
  const said =
    outcome.kind === "retry"
      ? `tried again in ${outcome.delayMs / 1000} s`
      : outcome.kind === "replied"
        ? "answered by the fallback"
        : "told why";
  return { code: failure ?? attempts[0] ?? "none", said, log: outline(entries), text: reply?.text ?? "" };
}

describe.each(FAILURES)("%s", (name, plays) => {
  test("the same in each protocol, and as the table says", async () => {
    const rows = await Promise.all(DIALECTS.map((dialect) => played(name, plays, dialect)));
    const [first] = rows;
    for (const [index, row] of rows.entries()) expect(row, DIALECTS[index]!.api).toEqual(first);
    table.set(name, first!);
  });
});

const table = new Map<string, Row>();

const HEAD = `# What a provider can do wrong

Each row is played by a local server in each protocol (${DIALECTS.map(({ api }) => `\`${api}\``).join(", ")}), through a whole
turn, first without and then with a fallback model. The test that plays them writes this page and compares it.

In every case the provider is asked once, nothing of a broken answer is left in the transcript, no half call is run, and no key is
in any text.

| what happens | failure | without a fallback, the message is | with one | the key rests |
|---|---|---|---|---|
`;

test("the page says what was played", () => {
  const rows = FAILURES.map(([name]) => {
    const row = table.get(name);
    expect(row?.requests, name).toBe(1);
    return `| ${[name, `\`${row?.code}\``, row?.alone, row?.helped, row?.rest].join(" | ")} |`;
  });
  const page = `${HEAD}${rows.join("\n")}\n\n${FAILURES.length * DIALECTS.length} failures: ${FAILURES.length} in ${DIALECTS.length} protocols.\n`;
  if (process.env.HOLDFAST_UPDATE_DOCS === "1") writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, "utf8")).toBe(page);
});
