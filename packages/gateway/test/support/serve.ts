/**
 * A gateway on the home that is named, on any free port; prints its address. One answer of its model: it writes a file for
 * "write", runs a slow command for "wait <seconds>", calls a tool for "call <name> <JSON>", and counts in the conversation, so that a message that ran twice would be seen.
 */
import { act, say, scriptedModel } from "@holdfast/agent";
import { type JsonObject, realWorld } from "@holdfast/base";
import { createGateway, GatewayError, loadConfig, openLog } from "@holdfast/gateway";

function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  return (content as readonly { readonly text?: string }[]).map(({ text = "" }) => text).join("\n");
}

const [home = ""] = process.argv.slice(2);
const model = scriptedModel((request) => {
  const last = request.messages.at(-1);
  const asked = JSON.stringify(last?.content ?? "");
  if (last?.role === "user" && asked.includes("write")) return act("write", { path: "out.txt", content: "written\n" });
  const seconds = last?.role === "user" ? /wait (\d+)/.exec(asked)?.[1] : undefined;
  if (seconds !== undefined) return act("exec", { command: `echo ran >> ran.txt; sleep ${seconds}; echo done` });
  const called = last?.role === "user" ? /call (\w+) (\{.*?\})/.exec(textOf(last.content)) : null;
  if (called !== null) return act(called[1]!, JSON.parse(called[2]!) as JsonObject);
  return say(`answer ${request.messages.filter(({ role }) => role === "user").length}`);
});
const gateway = createGateway({
  home,
  config: await loadConfig(home),
  world: realWorld(),
  log: await openLog(),
  dashboardRoot: null,
  http: { host: "127.0.0.1", port: 0 },
  model: () => model,
});
process.on("SIGTERM", () => void gateway.stop().then(() => process.exit(0)));
try {
  await gateway.start();
  process.stdout.write(`${gateway.address}\n`);
} catch (error) {
  if (!(error instanceof GatewayError)) throw error;
  process.stderr.write(`${error.code}: ${error.message}\n`);
  process.exit(error.code === "home_busy" ? 4 : 1);
}
