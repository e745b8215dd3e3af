/** `holdfast status`: is a gateway running on this home, with which model, and how many conversations are there. */
import type { CommandContext } from "../context.ts";
import { runningGateway } from "../door.ts";
import { EXIT, type ExitCode } from "../errors.ts";
import { homeOf } from "../home.ts";
import { storedSessions } from "../stores.ts";
import { ago } from "../table.ts";

/** `{ "home", "running", "address", "signInLink", "gateway", "sessions" }`; `gateway` is what it says of itself, or null. */
export async function showStatus(context: CommandContext): Promise<ExitCode> {
  const home = homeOf(context);
  const client = await runningGateway(context);
  const gateway = client === null ? null : await client.status();
  const signInLink = client === null ? null : await client.signInLink();
  const { rows } = await storedSessions(context);
  const address = client?.address ?? null;
  const value = { home, running: client !== null, address, signInLink, gateway, sessions: rows.length };
  context.output.result(value, (paint) => {
    const counted = `${rows.length} ${rows.length === 1 ? "conversation" : "conversations"} in ${home}`;
    if (client === null || gateway === null) return `${paint.dim("○")} No gateway runs here. ${counted}.`;
    const since = ago(gateway.startedAt, context.world.nowMs());
    const runs = `${paint.green("●")} ${client.address}, started ${since}, model ${gateway.model}. ${counted}.`;
    return `${runs}\n  To sign a browser in, once, within a day: ${signInLink}`;
  });
  return EXIT.ok;
}
