/** `holdfast send --session KEY TEXT`: one message, prints the answer. Through the running gateway, else in this process. */
import type { CommandContext } from "../context.ts";
import { withGateway } from "../door.ts";
import { CliError, EXIT, type ExitCode } from "../errors.ts";
import { printable } from "../output.ts";
import { keyFor } from "../find.ts";

/** `{ "answer", "session", "sessionId", "entryId", "durable" }` */
export async function send(context: CommandContext, name: string, text: string): Promise<ExitCode> {
  if (text.trim() === "") throw new CliError("usage", { what: "The message says nothing. Write a text to send." });
  const key = await keyFor(context, name);
  const clientKey = `cli-${context.world.newId("item")}`;
  const answer = await withGateway(context, (client) => client.ask(key, text, clientKey));
  context.output.result(answer, () => printable(answer.answer));
  return EXIT.ok;
}
