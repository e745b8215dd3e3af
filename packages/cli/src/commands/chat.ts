/**
 * `holdfast chat`: a conversation in the terminal, one message a line. Answers are printed as they are written.
 * Invariant: a message is durable before its answer begins; leaving early (Ctrl-C, Ctrl-D) loses nothing.
 */
import { createInterface } from "node:readline";
import type { GatewayClient } from "../client.ts";
import type { CommandContext } from "../context.ts";
import { withGateway } from "../door.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { Live } from "../live.ts";
import { keyFor } from "../find.ts";

const LEAVE = new Set(["/quit", "/exit", "/q"]);

/** With --json one line per message: `{ "answer", "session", "sessionId", "entryId", "durable" }`. */
export async function chat(context: CommandContext, options: { readonly session: string }): Promise<ExitCode> {
  const key = await keyFor(context, options.session);
  return withGateway(context, async (client) => {
    if (context.output.json) return chatInJson(context, client, key);
    return chatInWords(context, client, key);
  });
}

async function* messages(context: CommandContext, prompt: string, signal?: AbortSignal): AsyncGenerator<string> {
  const terminal = process.stdin.isTTY === true && !context.output.json;
  const output = terminal ? { output: process.stdout } : {};
  const reader = createInterface({ input: process.stdin, ...output, prompt, ...(signal ? { signal } : {}) });
  reader.on("SIGINT", () => reader.close());
  if (terminal) reader.prompt();
  for await (const line of reader) {
    const text = line.trim();
    if (LEAVE.has(text) || context.output.closed) return reader.close();
    if (text !== "") yield text;
    if (terminal) reader.prompt();
  }
}

async function chatInJson(context: CommandContext, client: GatewayClient, key: string): Promise<ExitCode> {
  for await (const text of messages(context, "")) {
    context.output.jsonLine(await client.ask(key, text, `cli-${context.world.newId("item")}`));
  }
  return EXIT.ok;
}

async function chatInWords(context: CommandContext, client: GatewayClient, key: string): Promise<ExitCode> {
  const { output, world } = context;
  const { model, rehearsal } = await client.status();
  output.line(
    output.paint.dim(`${key} · ${model}${rehearsal ? " (a rehearsal, no language model)" : ""} · /quit leaves`),
  );
  const live = new Live(client, key, context);
  const gone = new AbortController();
  const following = live.follow();
  following.catch(() => gone.abort()); // ends the reading of lines; the error itself is thrown below
  try {
    for await (const text of messages(context, output.paint.cyan("> "), gone.signal)) {
      await Promise.race([live.say(text, `cli-${world.newId("item")}`), following]);
      output.line();
    }
  } finally {
    live.close();
  }
  await following;
  return EXIT.ok;
}
