/**
 * What is played on the simulated machine: short stories, each around one thing the engine does to a disk.
 * `before` happens in peace; at every operation of `run` something goes wrong once.
 */
import type { Fsync } from "@holdfast/sessions";
import type { DiskImage } from "../disk/image.ts";
import type { History } from "../history/history.ts";
import type { Client, LockFiles } from "./client.ts";
import type { Recovery } from "./recoveries.ts";

export interface Scenario {
  readonly name: string;
  /** What is on the disk, and counts as told, before anybody runs. */
  readonly prepare?: (image: DiskImage, history: History) => void;
  readonly before?: (client: Client) => Promise<void>;
  readonly run: (client: Client) => Promise<void>;
  /** What whoever comes next does: each of them is played. Left out: goes on talking. */
  readonly recoveries?: readonly Recovery[];
  /** How processes exclude each other. Left out: the kernel's locks. */
  readonly lockFiles?: LockFiles;
  /** `never`: nothing is promised about power, so it stays on. Left out: `always`. */
  readonly fsync?: Fsync;
  /** Files that nobody may change. */
  readonly originals?: readonly string[];
  /** Sessions whose transcripts are damaged from the beginning. */
  readonly odd?: readonly string[];
}

export const MAIN = "agent:main:main";
export const OTHER = "agent:main:cli:direct:me";

export async function someTalk(client: Client): Promise<void> {
  await client.append(MAIN, "s1");
  await client.append(MAIN, "s2");
}

export const SCENARIOS: readonly Scenario[] = [
  {
    name: "create",
    run: async (client) => {
      await client.open(MAIN);
      await client.append(MAIN, "a1");
    },
  },
  {
    name: "append",
    before: someTalk,
    run: async (client) => {
      await client.append(MAIN, "a1");
      await client.append(MAIN, "a2", "a3");
      await client.append(MAIN, "a4");
    },
  },
  {
    name: "group commit",
    before: someTalk,
    run: async (client) => {
      await client.together(MAIN, "a1", "a2", "a3", "a4");
      await client.together(MAIN, "a5", "a6");
    },
  },
  {
    name: "branch",
    before: someTalk,
    run: async (client) => {
      await client.append(MAIN, "a1");
      await client.branch(MAIN, "s1");
      await client.append(MAIN, "a2");
      await client.branch(MAIN, "a1");
    },
  },
  {
    name: "index",
    before: someTalk,
    run: async (client) => {
      await client.update(MAIN, "one");
      await client.open(OTHER);
      await client.update(OTHER, "two");
      await client.update(MAIN, "three");
    },
  },
  {
    name: "fold",
    before: async (client) => {
      await someTalk(client);
      await client.update(MAIN, "one");
      await client.close();
      await client.update(MAIN, "two");
    },
    run: async (client) => {
      await client.update(MAIN, "three");
      await client.close();
      await client.update(MAIN, "four");
      await client.close();
    },
  },
];
