/**
 * A process of its own that works on one message: real files, the built-in tools, a model that goes by the results it sees.
 * `node turn-child.ts <root>`; killed through HOLDFAST_FAULT (base/src/points.ts). Its lane is `<root>/lane.json`.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { realWorld, writeWhole } from "@holdfast/base";
import { openSessions } from "@holdfast/sessions";
import { act, say, scriptedModel } from "../../src/model/scripted.ts";
import { builtinTools } from "../../src/tools/builtin.ts";
import { turn } from "../../src/turn.ts";
import type { ModelRequest, TurnOutcome } from "../../src/types.ts";
import { agentOf, laneOf } from "./agent.ts";

export const CONTENT = "1. 写周报\n2. Book the room\n";

/** Writes, then rings (a line in a file: countable from outside), then says so. */
function planned(request: ModelRequest) {
  const results = request.messages.filter((message) => message.role === "toolResult").length;
  if (results === 0) return act("write", { path: "notes/todo.md", content: CONTENT });
  if (results === 1) return act("exec", { command: "echo rung >> bell.log; echo ding" });
  return say("All done.");
}

/** Works on the message of this root, as whichever life of it. */
export async function workOn(root: string, world = realWorld()): Promise<TurnOutcome> {
  const stored = join(root, "lane.json");
  const lane = laneOf("save and ring", "web:local:me:7");
  if (existsSync(stored)) Object.assign(lane, JSON.parse(readFileSync(stored, "utf8")));
  const workspace = join(root, "workspace");
  await using sessions = await openSessions({ directory: join(root, "sessions") }, world);
  const model = scriptedModel(planned);
  const agent = await agentOf({ sessions, model, world, lane, root, workspace, tools: builtinTools() });
  const keep = () =>
    writeWhole(world, stored, JSON.stringify({ item: lane.item, finished: lane.finished, ended: lane.ended }));
  const durable: typeof agent = {
    ...agent,
    began: async (item, start) => {
      await agent.began(item, start);
      await keep();
    },
    finish: async (item, reply) => {
      await agent.finish(item, reply);
      await keep();
    },
  };
  return await turn(lane.item, durable, new AbortController().signal);
}

if (process.argv[1] === import.meta.filename) await workOn(process.argv[2] ?? "");
