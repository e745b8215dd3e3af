/**
 * `holdfast session purge`: destroys a conversation, for what must not stay, such as a secret that was said.
 * Invariant: nothing is destroyed that was not shown and agreed to: on a terminal it asks, elsewhere it needs --yes.
 */
import { isSessionKey } from "@holdfast/sessions";
import { CodedError } from "@holdfast/base";
import type { WirePurged } from "@holdfast/gateway/wire";
import type { CommandContext } from "../context.ts";
import { CliError, EXIT, type ExitCode } from "../errors.ts";
import { findSession } from "../find.ts";
import { type Palette, printable } from "../output.ts";
import { ask } from "../prompt.ts";
import { counted, sizeText } from "../table.ts";
import { withActs } from "../writing.ts";
import { WHY } from "./put-away.ts";

export interface PurgeCommand {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** `{ key, dryRun, kept, destroyed, actions, tombstone, scrubbed, folders, unreachable }`; exit 4 when somebody works on it. */
export async function purge(context: CommandContext, name: string, options: PurgeCommand): Promise<ExitCode> {
  const { key, agentId } = await purgeable(context, name);
  const would = await withActs(context, agentId, (acts) => acts.purge(key, true));
  if (options.dryRun === true) {
    context.output.result(would, (paint) => described(would, paint));
    return EXIT.ok;
  }
  if (!(await agreed(would, options))) {
    context.output.result(would, () => "Nothing was destroyed.");
    return EXIT.ok;
  }
  const done = await withActs(context, agentId, (acts) => acts.purge(key, false));
  context.output.result(done, (paint) => described(done, paint));
  return done.kept === null ? EXIT.ok : EXIT.busy;
}

/** Also a whole key whose conversation was ended. */
async function purgeable(
  context: CommandContext,
  name: string,
): Promise<{ readonly key: string; readonly agentId: string }> {
  try {
    return await findSession(context, name);
  } catch (error) {
    const isUnknown = error instanceof CodedError && error.code === "name_unknown";
    const agentId = name.split(":")[1];
    if (!isUnknown || !isSessionKey(name) || agentId === undefined) throw error;
    return { key: name, agentId };
  }
}

async function agreed({ key, destroyed }: WirePurged, { yes }: PurgeCommand): Promise<boolean> {
  if (yes === true) return true;
  const what = `${counted(destroyed.length, "transcript")} of ${printable(key)}`;
  if (process.stdin.isTTY === true) return ask(`Destroy ${what} for ever? There is no way back. [y/N] `);
  throw new CliError("usage", { what: `This destroys ${what} for ever. Say --yes if that is meant.` });
}

function described({ key, dryRun, kept, ...purged }: WirePurged, paint: Palette): string {
  if (kept !== null) return `${paint.yellow("left")}  ${printable(key)}: ${WHY[kept] ?? kept}`;
  const { destroyed, folders, scrubbed, tombstone, unreachable } = purged;
  const bytes = destroyed.reduce((sum, one) => sum + one.bytes, 0);
  const verb = dryRun ? "would be destroyed" : "destroyed";
  const index = scrubbed
    ? "its row is gone from the index"
    : "its row is gone; run this again to clean the index files";
  return [
    `${paint.red(verb)}  ${printable(key)}: ${counted(destroyed.length, "transcript")}, ${sizeText(bytes)}`,
    ...destroyed.map(({ file }) => `  ${paint.red("-")} ${printable(file)}`),
    ...(dryRun ? [] : [`  ${index}; ${counted(folders, "action folder")} emptied; tombstone ${tombstone ?? "none"}`]),
    "copies that this cannot reach:",
    ...unreachable.map((copy) => `  ${paint.yellow("!")} ${printable(copy)}`),
  ].join("\n");
}
