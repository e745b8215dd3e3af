/** A worker of the campaign: plays the parts that its parent sends, one after the other, and sends their reports. */
import { enumerateTurns } from "./enumerate-turns.ts";
import type { Job } from "./campaign-of-turns.ts";
import { STORIES } from "./stories.ts";

process.on("message", ({ story, options }: Job) => {
  const found = STORIES.find(({ name }) => name === story);
  if (found === undefined) throw new TypeError(`no story ${story}`);
  void enumerateTurns(found, options).then((report) => process.send?.(report));
});

// Nobody is left to tell.
process.on("disconnect", () => process.exit());
