/** The rehearsal model's English. Examples are whole messages that it understands; a test says each of them. */
import { assertNever } from "@holdfast/base";
import type { Step } from "./conversation.ts";
import type { Words } from "./words.ts";

const CONFIGURATION = `\`\`\`json5
{
  agents: { defaults: { model: { primary: "openai/MODEL" } } },
  models: { providers: { openai: {
    api: "openai-completions", baseUrl: "https://api.openai.com/v1", apiKey: "\${OPENAI_API_KEY}",
    models: [{ id: "MODEL", contextWindow: 128000, maxTokens: 16000 }],
  } } },
}
\`\`\``;

export const ENGLISH: Words = {
  notice: "(This is a rehearsal: a few fixed rules, no language model. Say `Who are you?` to see how to connect one.)",
  about: `I am Holdfast's rehearsal model: a few fixed rules and no language model. I run offline, without a key, so that you can try files, memory, commands and recovery before you connect a real one.

To connect a real model, put this into \`holdfast.json\` (any OpenAI-compatible address will do) and start the gateway again:

${CONFIGURATION}`,
  greeting: `Hello! This is a rehearsal: I am a few fixed rules and no language model, but the files, the memory and the commands are real. Try one of these:

- \`Make sample notes\`
- \`Read the notes, extract the to-dos and save them\`
- \`The second one, split it finer\`

A real model is configured in \`holdfast.json\`: \`agents.defaults.model.primary\` and \`models.providers\`.`,
  help: `In this rehearsal (no language model, only rules) you can say, in your own words:

- \`Make sample notes\` writes meeting notes to play with
- \`Read notes/meeting.md\`
- \`List the to-dos\`
- \`Save them\` or \`Save them to notes/friday.md\`
- \`The second one, split it finer\`
- \`Remember that the office closes at six\`
- \`What do you remember about the office?\`
- \`Continue\` or \`Try again\` after something was interrupted or refused

Kill the gateway whenever you like and start it again: the conversation goes on. Say \`Who are you?\` to see how to connect a real model.`,
  fallback: `I did not understand that. This is a rehearsal: a few fixed rules, no language model. I can read files, find and save to-dos, split them, remember things and run commands. For example:

- \`Read notes/meeting.md\`
- \`List the to-dos\`
- \`Remember that the office closes at six\`

Say \`Who are you?\` to see how to connect a real model.`,
  outside:
    "I cannot look that up: the rehearsal has no tool for it and uses no network. It would take a real model (`agents.defaults.model.primary` and `models.providers` in `holdfast.json`) and a tool that fetches such data (`tools.modules`).",
  noTool: (tool) =>
    `That needs the tool \`${tool}\`, which is not available in this conversation. Allow it under \`agents.defaults.tools\` in \`holdfast.json\`.`,

  fileShown: (path, fenced) => `\`${path}\` says:\n\n${fenced}`,
  readFailed: (path, why) => `I could not read \`${path}\`: ${why}`,
  sampleHint: "Say `Make sample notes` and I write some to try with.",
  sampleWritten: (path) =>
    `I wrote sample meeting notes to \`${path}\`. Now say \`Read the notes, extract the to-dos and save them\`.`,
  sampleExists: (path) =>
    `\`${path}\` is already there, so I left it alone. Say \`List the to-dos\` to see what is in it.`,
  sample: `# Weekly meeting

Mei, Jonas and Ada were there. The launch moves to the 12th.

- TODO: Send the budget draft to Mei by Friday
- TODO: Book a room for the launch review
- TODO: Ask the supplier for a new delivery date
`,

  listHeading: "To-do",
  todosFound: (path, list) =>
    `The to-dos in \`${path}\`:\n\n${list}\n\nSay \`Save them\` to keep them as a check list.`,
  todosNone: (path) =>
    `I found no to-dos in \`${path}\`. I look for lines such as \`TODO: ...\`, \`Action: ...\` or \`- [ ] ...\`.`,
  saved: (path, list) => `Saved to \`${path}\`:\n\n${list}`,
  notSaved: (path, why) => `Nothing was saved: \`${path}\` could not be written. The reason given: ${why}`,
  permissionHint:
    "What would help: the gateway's user needs the right to write there (for example by `chmod u+w`), and `agents.defaults.tools` in `holdfast.json` must allow the tool.",
  retryHint: "Then say `Try again`.",

  splitDone: (which, item, list) => `To-do ${which}, "${item}", in smaller steps:\n\n${list}`,
  splitWhich: (list) => `Which one? Say for example \`The second one, split it finer\`.\n\n${list}`,
  splitMissing: (which, list) =>
    `There is no to-do ${which === -1 ? "at the end" : which}. These are there:\n\n${list}`,
  noList: (path) =>
    `I know of no to-do list: there is none in this conversation or in \`${path}\`. Say \`List the to-dos\` first.`,

  remembered: (fact, path) => `Remembered, in \`${path}\`: ${fact}`,
  notRemembered: (why) => `I could not write that down. The reason given: ${why}`,
  memoryTooLarge: (path) =>
    `\`${path}\` is too long for me to add to it safely, so nothing was changed. Please add the line by hand.`,
  recalled: (path, list) => `From \`${path}\`:\n\n${list}`,
  nothingRemembered: "I remember nothing yet. Say for example `Remember that the office closes at six`.",

  ran: (command, fenced) => `\`${command}\` gave:\n\n${fenced}`,
  runFailed: (command, fenced) => `\`${command}\` did not succeed:\n\n${fenced}`,

  settledHeading: "After the interruption I first settled what was open:",
  settled: (action, step) => `- ${action} ${settledAs(step)}`,
  undecided: (action) =>
    `I stop here, because the outcome of ${action} is not settled. Nothing was repeated. Look at it yourself and tell me what to do; \`Try again\` asks for it once more.`,
  nothingOpen:
    "Nothing is open: everything you asked for was finished or answered. Say `Help` to see what you can try.",
  nothingToRetry: "There is nothing to try again yet. Say `Help` to see what you can try.",
};

function settledAs({ verdict, failed }: Step): string {
  switch (verdict) {
    case "happened":
      return "had happened before the interruption, as a look at the world showed; it was not done again.";
    case "absent":
    case "not_started":
      return failed ? "had not happened." : "had not happened, so it was done now, once.";
    case "conflict":
      return "met something else in its place; nothing was overwritten.";
    case "unknown":
    case null:
      return "may or may not have happened; it was not repeated. A look at its target would settle it.";
    default:
      return assertNever(verdict);
  }
}
