/** The grammar of the commands that look through conversations and change them: part of program.ts, apart for its length. */
import { Argument, type Command, Option } from "commander";
import type { CommandContext } from "./context.ts";
import type { ExitCode } from "./errors.ts";

type Act = (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

export function addSearch(session: Command, act: Act, wholeNumber: (text: string) => number): void {
  session
    .command("why <name>")
    .description("which conversation a name means, and what a message would find there")
    .action((name) => act(async (context) => (await import("./commands/why.ts")).why(context, name)));
  session
    .command("search <text...>")
    .description("look for a text in all conversations, on all branches, also in the archive")
    .option("--limit <n>", "at most so many finds", wholeNumber, 50)
    .action((text, options) =>
      act(async (context) => (await import("./commands/search.ts")).search(context, text.join(" "), options)),
    );
}

export function addActs(session: Command, act: Act): void {
  const commands = () => import("./commands/acts.ts");
  session
    .command("branch <name> <entry>")
    .description("go on from this entry; durable at once")
    .action((name, entry) => act(async (context) => (await commands()).branchSession(context, name, entry)));
  session
    .command("fork <name> <key>")
    .description("a new conversation under another key that begins with a copy")
    .option("--entry <id>", "copy up to this entry instead of the current leaf")
    .option("--whole-turns", "leave out a question that has no answer yet")
    .action((name, key, options) =>
      act(async (context) => (await commands()).forkSession(context, name, key, options)),
    );
  session
    .command("compact <name> [focus...]")
    .description("shorten what the model sees; the log stays whole")
    .action((name, focus) =>
      act(async (context) =>
        (await import("./commands/send.ts")).send(context, name, ["/compact", ...focus].join(" ")),
      ),
    );
  session
    .command("label <name> <entry> <text>")
    .description("name an entry; an empty text takes the name back")
    .action((name, entry, text) => act(async (context) => (await commands()).labelOf(context, name, entry, text)));
  session
    .command("rename <name> <text>")
    .description("name the conversation; an empty text takes the name back")
    .action((name, text) => act(async (context) => (await commands()).rename(context, name, text)));
}

export function addPutAway(session: Command, act: Act): void {
  const commands = () => import("./commands/put-away.ts");
  session
    .command("reset <name>")
    .description("begin anew under the same key; the transcript is kept")
    .action((name) => act(async (context) => (await commands()).resetSession(context, name)));
  session
    .command("clear")
    .description("end conversations: transcripts into the archive, rows away")
    .option("--session <name>", "which one")
    .option("--all", "all of them")
    .option("--yes", "do not ask")
    .action((options) => act(async (context) => (await commands()).clearSessions(context, options)));
  session
    .command("archive <name>")
    .description("put one away until it is spoken to again")
    .action((name) => act(async (context) => (await commands()).archiveSession(context, name)));
  session
    .command("restore <name>")
    .description("get one back; also by the session id of one that was ended")
    .option("--as <key>", "under this key instead of the one the transcript names")
    .action((name, options) => act(async (context) => (await commands()).restoreSession(context, name, options)));
  session
    .command("purge <name>")
    .description("destroy a conversation and all transcripts of its key; there is no way back")
    .option("--dry-run", "only say what would be destroyed")
    .option("--yes", "do not ask")
    .action((name, options) =>
      act(async (context) => (await import("./commands/purge.ts")).purge(context, name, options)),
    );
  session
    .command("cleanup")
    .description("retention now")
    .option("--dry-run", "only say what would be done")
    .action((options) => act(async (context) => (await commands()).cleanup(context, options)));
}

/** Histories out of this home and into it. */
export function addKeeping(program: Command, session: Command, act: Act): void {
  const commands = () => import("./commands/keep.ts");
  session
    .command("export <name>")
    .description("write a conversation to stdout")
    .addOption(new Option("--format <format>", "as what").choices(FORMATS).default("json"))
    .addOption(new Option("--lang <lang>", "language of headings; else by locale").choices(["en", "zh"]))
    .action((name, options) => act(async (context) => (await commands()).exportSession(context, name, options)));
  session
    .command("import <file>")
    .description("take in a transcript, an export or a file of the older layout; the file is only read")
    .option("--session <key>", "the key it shall have; else the one it names")
    .action((file, options) => act(async (context) => (await commands()).importSession(context, file, options)));
  program
    .command("migrate")
    .description("bring a history over; the source is only read")
    .addArgument(new Argument("<program>", "whose history").choices(["openclaw", "pi"]))
    .argument("<dir>", "its folder, such as ~/.openclaw or ~/.pi/agent/sessions")
    .action((from, dir) => act(async (context) => (await import("./commands/migrate.ts")).migrate(context, from, dir)));
}

const FORMATS = ["json", "jsonl", "markdown", "html", "flat"];

export function addWaiting(program: Command, act: Act): void {
  const commands = () => import("./commands/waiting.ts");
  const approvals = program
    .command("approvals")
    .description("what waits for a yes")
    .action(() => act(async (context) => (await commands()).listApprovals(context)));
  for (const [name, decision] of [
    ["approve", "yes"],
    ["deny", "no"],
  ] as const) {
    approvals
      .command(`${name} <id>`)
      .description(decision === "yes" ? "let it run, once, as it stands" : "do not let it run")
      .action((id) => act(async (context) => (await commands()).decideApproval(context, id, decision)));
  }
  const actions = program
    .command("actions")
    .description("what agents did or may have done, and what is known of it")
    .option("--session <name>", "of one conversation only")
    .option("--open", "only what is open or unsettled")
    .action((options) => act(async (context) => (await import("./commands/actions.ts")).listActions(context, options)));
  actions
    .command("settle <id>")
    .description("say what you found out about an action whose outcome is not known")
    .option("--happened", "it did happen")
    .option("--absent", "it did not")
    .option("--note <text>", "what the agent should know besides")
    .action((id, options) =>
      act(async (context) => (await import("./commands/actions.ts")).settleAction(context, id, options)),
    );
  program
    .command("lanes")
    .description("what waits, for what, and replies that were given up")
    .action(() => act(async (context) => (await commands()).listLanes(context)))
    .command("resend <id>")
    .description("send a reply that was given up once more")
    .action((id) => act(async (context) => (await commands()).resendReply(context, id)));
}

export function addModels(program: Command, act: Act, wholeNumber: (text: string) => number): void {
  program
    .command("usage")
    .description("what the models cost")
    .addOption(new Option("--by <what>", "add up by").choices(["day", "model", "session", "agent"]).default("day"))
    .option("--days <n>", "of so many days", wholeNumber, 30)
    .action((options) => act(async (context) => (await import("./commands/usage.ts")).showUsage(context, options)));
  const models = program.command("models").description("which models there are, and whether they answer");
  const commands = () => import("./commands/models.ts");
  models
    .command("list")
    .description("the configured models, or all that are known of a provider")
    .option("--provider <name>", "what this provider offers, with windows and prices")
    .action((options) => act(async (context) => (await commands()).listModels(context, options)));
  models
    .command("test [names...]")
    .description("ask each of them one short question; all that are configured when none is named")
    .action((names) => act(async (context) => (await commands()).testModels(context, names)));
}
