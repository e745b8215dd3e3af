/**
 * `holdfast chat`: a conversation in the terminal, one message a line. Answers are printed as they are written.
 * Invariant: a message is durable before its answer begins; leaving early (Ctrl-C, Ctrl-D) loses nothing.
 */
import type { GatewayClient } from "../client.ts";
import type { CommandContext } from "../context.ts";
import { type Door, withGateway } from "../door.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { keyFor } from "../find.ts";
import { Live } from "../live.ts";
import { Prompt } from "../prompt.ts";

const LEAVE = new Set(["/quit", "/exit", "/q"]);

/** With --json one line per message: `{ "answer", "session", "sessionId", "entryId", "durable" }`. */
export async function chat(context: CommandContext, options: { readonly session: string }): Promise<ExitCode> {
  const key = await keyFor(context, options.session);
  return withGateway(context, async (client, door) => {
    if (context.output.json) return chatInJson(context, client, key);
    return chatInWords(context, client, { key, door });
  });
}

function promptOf({ output }: CommandContext): Prompt {
  const terminal = process.stdin.isTTY === true && !output.json ? process.stdout : null;
  return new Prompt({ input: process.stdin, terminal, prompt: output.paint.cyan("> ") });
}

async function* messages({ output }: CommandContext, prompt: Prompt): AsyncGenerator<string> {
  for await (const text of prompt.lines()) {
    if (LEAVE.has(text) || output.closed) return;
    yield text;
  }
}

async function chatInJson(context: CommandContext, client: GatewayClient, key: string): Promise<ExitCode> {
  using prompt = promptOf(context);
  for await (const text of messages(context, prompt)) {
    context.output.jsonLine(await client.ask(key, text, `cli-${context.world.newId("item")}`));
  }
  return EXIT.ok;
}

interface Place {
  readonly key: string;
  readonly door: Door;
}

async function chatInWords(context: CommandContext, client: GatewayClient, { key, door }: Place): Promise<ExitCode> {
  const { output, world } = context;
  const { model, rehearsal } = await client.status();
  output.line(
    output.paint.dim(`${key} · ${model}${rehearsal ? " (a rehearsal, no language model)" : ""} · /quit leaves`),
  );
  using prompt = promptOf(context);
  const live = new Live(client, key, context);
  const following = live.follow();
  following.catch(() => prompt.close()); // ends the reading of lines; the error itself is thrown below
  try {
    for await (const text of messages(context, prompt)) {
      const said = live.say(text, `cli-${world.newId("item")}`);
      const how = await Promise.race([said, following, prompt.left]);
      if (how === "left") {
        output.line(`\n${output.paint.dim(farewell(live.accepted, door))}`);
        return EXIT.ok;
      }
      output.line();
    }
  } finally {
    live.close();
  }
  await following;
  return EXIT.ok;
}

/** What becomes of the message whose answer was not waited for. */
function farewell(accepted: boolean, door: Door): string {
  if (!accepted) return "(left before the gateway had the message: it may not be there; say it again)";
  if (door === "own") return "(left; the message is kept, and answered when a gateway runs here again)";
  return "(left; the gateway goes on, and the answer will be in the conversation)";
}
