/**
 * The grammar of the command line: commands, options, and which file does the work. Commands are imported when they run.
 * Invariant: what is not understood is refused with exit code 2 before anything was done.
 */
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { CommandContext, GlobalOptions } from "./context.ts";
import { CliError, EXIT, type ExitCode } from "./errors.ts";
import { HELP } from "./help.ts";
import { addActs, addKeeping, addModels, addPutAway, addSearch, addWaiting } from "./program-acts.ts";

type MakeContext = (options: GlobalOptions) => CommandContext;
/** Registers a command whose `action` returns its exit code. */
type Act = (work: (context: CommandContext) => Promise<ExitCode>) => Promise<void>;

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("It must be a whole number from 0 on.");
  return Number(text);
}

function requestNumber(text: string): number | "last" {
  return text === "last" ? text : wholeNumber(text);
}

function portNumber(text: string): number {
  const port = wholeNumber(text);
  if (port > 65_535) throw new InvalidArgumentError("A port is a number from 0 to 65535.");
  return port;
}

/** An empty one comes from a variable that is not set, and would mean another home than the one that was meant. */
function directoryName(text: string): string {
  if (text === "") throw new InvalidArgumentError("It is empty; name a directory, or leave it out for ~/.holdfast.");
  return text;
}

function addGateway(program: Command, act: Act): void {
  program
    .command("gateway")
    .description("run the gateway in the foreground until it is told to stop (Ctrl-C)")
    .option("--port <n>", "listen on this port instead of gateway.port; 0 takes a free one", portNumber)
    .action((options) => act(async (context) => (await import("./commands/gateway.ts")).runGateway(context, options)));
  program
    .command("chat")
    .description("talk in the terminal")
    .option("--session <key>", "which conversation", "main")
    .action((options) => act(async (context) => (await import("./commands/chat.ts")).chat(context, options)));
  program
    .command("send")
    .description("send one message and print the answer")
    .argument("<text...>", "the message")
    .requiredOption("--session <key>", "which conversation")
    .action((text, options) =>
      act(async (context) => (await import("./commands/send.ts")).send(context, options.session, text.join(" "))),
    );
  program
    .command("status")
    .description("what is running")
    .action(() => act(async (context) => (await import("./commands/status.ts")).showStatus(context)));
  addWaiting(program, act);
  addModels(program, act, wholeNumber);
  program
    .command("config")
    .description("the configuration")
    .command("check")
    .description("validate holdfast.json and say what is wrong with it")
    .action(() => act(async (context) => (await import("./commands/config.ts")).checkConfig(context)));
}

function addContextOptions(command: Command): Command {
  return command
    .option("--leaf <id>", "build it for this entry instead of the current leaf")
    .option("--max-messages <n>", "at most so many messages", wholeNumber)
    .option("--max-tokens <n>", "at most about so many tokens", wholeNumber);
}

function addSession(program: Command, act: Act): void {
  const session = program.command("session").alias("sessions").description("conversations of this home");
  const commands = () => import("./commands/session.ts");
  session
    .command("list")
    .description("what conversations there are, the newest first")
    .action(() => act(async (context) => (await import("./commands/session-list.ts")).listSessions(context)));
  session
    .command("show <name>")
    .description("one conversation")
    .action((name) => act(async (context) => (await commands()).showSession(context, name)));
  session
    .command("tree <name>")
    .description("its branches")
    .action((name) => act(async (context) => (await commands()).treeOfSession(context, name)));
  addContextOptions(session.command("context <name>"))
    .description("what the model would get, and why")
    .option("--request <n>", "what it got: in this request, or in the last one", requestNumber)
    .action((name, options) => act(async (context) => (await commands()).contextOfSession(context, name, options)));
  addSearch(session, act, wholeNumber);
  addActs(session, act);
  addPutAway(session, act);
  addKeeping(program, session, act);
}

function addTranscript(program: Command, act: Act): void {
  const transcript = program.command("transcript").description("bare transcript files: no gateway, no home");
  const commands = () => import("./commands/transcript.ts");
  transcript
    .command("verify <file>")
    .description("say whether a transcript is whole; exit code 3 when it is not")
    .action((file) => act(async (context) => (await commands()).verify(context, file)));
  transcript
    .command("tree <file>")
    .description("its branches")
    .action((file) => act(async (context) => (await commands()).tree(context, file)));
  addContextOptions(transcript.command("context <file>"))
    .description("what a model would get, and why")
    .action((file, options) => act(async (context) => (await commands()).showContext(context, file, options)));
  transcript
    .command("append <file>")
    .description("append JSON lines from stdin; each is acknowledged when it is durable")
    .action((file) =>
      act(async (context) => (await import("./commands/append.ts")).append(context, file, process.stdin)),
    );
  transcript
    .command("branch <file> <entry>")
    .description("go on from this entry; durable at once")
    .action((file, entry) => act(async (context) => (await commands()).branch(context, file, entry)));
  const rewriting = () => import("./commands/repair.ts");
  transcript
    .command("repair <file>")
    .description("write a sound transcript beside a damaged one, and say what was changed")
    .option("--output <file>", "write it there instead")
    .action((file, options) => act(async (context) => (await rewriting()).repair(context, file, options)));
  transcript
    .command("convert <file>")
    .description("write an older version, the older layout or an export as a transcript of version 3")
    .option("--output <file>", "write it there instead")
    .action((file, options) => act(async (context) => (await rewriting()).convert(context, file, options)));
}

function addDemo(program: Command, act: Act): void {
  program
    .command("demo")
    .description("the to-do story, with a real SIGKILL, in a temporary home")
    .option("--seed <n>", "varies notes, items, files and the moment of the kill", wholeNumber, 1)
    .addOption(new Option("--lang <lang>", "language of the story; else by locale").choices(["en", "zh"]))
    .option("--verdicts", "four calls that are cut off instead, one for each thing that can be known afterwards")
    .option("--keep", "keep the temporary home")
    .action(({ verdicts, ...options }) =>
      act(async (context) => {
        const { demo, verdictsDemo } = await import("./demo/demo.ts");
        return verdicts === true ? verdictsDemo(context, options) : demo(context, options);
      }),
    );
}

/** Commander's own words, as an error of ours; help is not an error. */
function usageError(error: CommanderError): CliError | undefined {
  if (error.exitCode === 0 || error.code === "commander.help") return undefined;
  const what = error.message.replace(/^error: /, "").replace(/\n\(?/g, " (");
  return new CliError("usage", { what: `${ended(what)} See \`holdfast --help\`.` });
}

function ended(sentence: string): string {
  return /[.!?)]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Every command refuses by throwing, and says nothing itself. */
function strict(command: Command, print: (text: string) => void): void {
  command.exitOverride().showSuggestionAfterError(true);
  command.configureOutput({ writeOut: print, writeErr: () => {}, outputError: () => {} });
  for (const child of command.commands) strict(child, print);
}

function buildProgram(act: Act): Command {
  const program = new Command("holdfast")
    .description("an assistant whose conversations and actions survive kills")
    .option("--json", "one JSON value on stdout")
    .option("--home <dir>", "the home directory", directoryName)
    .option("--agent <id>", "which agent");
  addGateway(program, act);
  addSession(program, act);
  addTranscript(program, act);
  addDemo(program, act);
  program.helpInformation = () => HELP;
  program.helpCommand(false);
  return program;
}

/** Parses and runs. Throws `usage`, and whatever the command throws. */
export async function parseAndRun(argv: readonly string[], makeContext: MakeContext): Promise<ExitCode> {
  const done: { code: ExitCode } = { code: EXIT.ok };
  const program = buildProgram(async (work) => {
    const options = program.opts();
    const context = makeContext({ json: options.json === true, home: options.home, agent: options.agent });
    done.code = await work(context);
  });
  const { output, version } = makeContext({ json: false, home: undefined, agent: undefined });
  program.version(version(), "-V, --version");
  strict(program, (text) => output.write(text));
  if (argv.length === 0) {
    output.write(HELP);
    return EXIT.usage;
  }
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    const refused = usageError(error);
    if (refused !== undefined) throw refused;
  }
  return done.code;
}
