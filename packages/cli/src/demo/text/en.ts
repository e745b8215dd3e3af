/** The demo in English. */
import { short, type Words } from "./words.ts";

const ORDINALS = ["first", "second", "third", "fourth"] as const;

const MEANINGS: Readonly<Record<string, string>> = {
  happened: "it happened; it is not done again",
  absent: "it did not happen; it is done now, under the same key",
  not_started: "it was never begun; it is done now",
  conflict: "something else is there; nothing is overwritten",
  unknown: "nobody can tell; it is not repeated",
};

const STEPS: Readonly<Record<string, string>> = {
  happened: "Killed after the file was written, before that was recorded",
  absent: "Killed before the file was written",
  conflict: "Killed before the file was written; then somebody else writes it",
  unknown: "Killed while a command runs, and whoever watched over the command as well",
};

export const en: Words = {
  story: {
    items: [
      "Send the draft of the contract to Mei",
      "Book a room for the workshop",
      "Write the release notes",
      "Review the backup plan",
      "Call the printer about the poster",
      "Order two more sensors",
      "Fix the broken link on the start page",
      "Prepare the slides for Thursday",
      "Test the restore on the small server",
      "Invite Tomas to the review",
    ],
    notes(items, chance) {
      const mark = chance.pick(["TODO: ", "- [ ] ", "Action: "]);
      const talk = [
        "We began ten minutes late.",
        "The budget is unchanged.",
        "Nobody had seen the figures yet.",
        "Lunch was good.",
      ];
      const lines = items.flatMap((item) => [chance.pick(talk), `${mark}${item}`, ""]);
      return ["# Weekly meeting", "", ...lines].join("\n");
    },
    sayFirst: (notes, todo) => `Read ${notes}, pull out the to-dos and save them to ${todo}`,
    sayAgain: "You may write there now. Try again.",
    sayAfter: (asked) => `The ${ORDINALS[asked] ?? "last"} one, split it finer`,
  },
  narration: {
    title: (seed) => `A to-do list, and kill -9 in the middle of saving it   (seed ${seed})`,
    home: (path) => `temporary home ${path}`,
    starts: (pid) => `A gateway starts: real HTTP, no network, the rehearsal model   (process ${pid})`,
    readOnly: (directory) => `The folder ${directory}/ is read-only`,
    you: "you",
    granted: "granted",
    grants: (directory) => `You allow it: chmod 0700 ${directory}`,
    standsStill: (point) => `The process stands still at ${point}. What is there at this moment?`,
    onDisk: "on disk",
    fileIs: (path, bytes, inode) => `${path}, ${bytes} bytes, inode ${inode}`,
    fileIsNot: (path) => `${path} is not there`,
    inLog: "in the log",
    logHas: (intents, results) =>
      `${intents === 0 ? "the wish to write, no intent" : "the intent to write"}, ${results === 0 ? "no result" : "a result"}`,
    killed: (pid) => `kill -9 ${pid}: it cannot say goodbye`,
    startsAgain: (pid) => `A new gateway opens the same home   (process ${pid})`,
    verdict: "verdict",
    verdictMeans: (verdict) => MEANINGS[verdict] ?? "",
    evidence: "evidence",
    comparison: (planned, now) =>
      `meant to write sha256 ${short(planned)}; on disk is ${now === null ? "no such file" : `sha256 ${short(now)}`}`,
    noIntent: "no intent was recorded, so the write had not begun",
    writes: "writes",
    writesSeen: (count) => `${count}, counted from outside by watching the folder`,
    goesOn: "The conversation goes on",
    good: (path, seconds) => `${path} was written exactly once. ${seconds} s in all.`,
    bad: (what) => `This is not what should have happened: ${what}`,
    kept: (path) => `kept: ${path}`,
    verdictsTitle: "Four calls, each cut off by kill -9: what can be known of them afterwards",
    verdictStep: (verdict) => STEPS[verdict] ?? verdict,
    modelReads: "model reads",
    somebodyElse: "meanwhile somebody else writes another file in its place",
    everythingKilled: "kill -9 of the gateway and of the command's supervisor, as when the power fails",
    verdictsGood: (seconds) => `Four calls, four verdicts, nothing done twice. ${seconds} s in all.`,
  },
};
