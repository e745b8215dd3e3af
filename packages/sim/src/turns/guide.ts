/**
 * docs/guide/durability.md, written by what it reports: each run replaces its own section and leaves the others.
 * Invariant: no figure in it was put there by hand.
 */
import { readFileSync, writeFileSync } from "node:fs";

const PAGE = new URL("../../../../docs/guide/durability.md", import.meta.url);

const ABOUT = `# What was tried

The runs named here wrote this page; each replaces its own section.

\`npm run campaign\` plays each story on a simulated machine: the product's own lanes, turns, tools' rules and deliveries over a
simulated disk, clock and world. At every operation it tries every death (killed before and after, and in the middle of a write; the
power lost before and after, with what was not synced lost, kept, cut or zeroed), every refusal (EIO, ENOSPC, short writes, failed
syncs, things that were done and whose answer was lost), and a freeze: the process sleeps there, another takes over and comes to
its end, then the first is woken. What is left is given to a next life, which goes on until nothing is due; in that life a second
fault strikes, and after half of those the clock is set back an hour. Then facts from outside are compared: what happened in the simulated world, what clients were told, what the
platform was sent, the bytes of the transcript.

Promises: a message whose sender was told "received" is answered or visibly failed, and heard once however often it is delivered;
no effect happens twice, and none that needs a yes without one; every call has exactly one result, below its call; a result that says
"happened" or "absent" is true; no part of a reply is sent twice unless its policy says so, and none is called sent that was not.
A first fault is an operation and what happens at it; a second one adds an operation of the recovery and what happens there. Equal
remains are recovered from once. The lane store is the one in memory with commits that are whole or not there; the SQLite store has
tests of its own.

A point that broke a promise is named, and \`npm run campaign -- "<story>" --point "<name>"\` plays it again and shows what could be
seen at each stage: effects, replies, the lanes, the transcript.
`;

const SECTIONS = {
  campaign: "## First faults: `npm run campaign`",
  long: "## Second faults: `npm run campaign -- --long`",
  races: "## Several recoveries at once: `npm run campaign -- --races`",
} as const;

/** Replaces one section. */
export function writeGuide(section: keyof typeof SECTIONS, body: string): void {
  const known = sectionsIn(readFileSync(PAGE, "utf8"));
  known.set(SECTIONS[section], body);
  const parts = Object.values(SECTIONS).flatMap((heading) => {
    const text = known.get(heading);
    return text === undefined ? [] : [`${heading}\n\n${text}\n`];
  });
  writeFileSync(PAGE, [ABOUT, ...parts].join("\n"));
}

function sectionsIn(page: string): Map<string, string> {
  const parts = page.split(/^(?=## )/mu).filter((part) => part.startsWith("## "));
  return new Map(
    parts.map((part) => {
      const end = part.indexOf("\n");
      return [part.slice(0, end), part.slice(end).trim()];
    }),
  );
}
