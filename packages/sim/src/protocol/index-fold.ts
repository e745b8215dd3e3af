/**
 * The index as a model: a writer changes one row again and again, folders put the journals into the snapshot, a reader reads.
 *
 * A row is a number that grows with each change; journals hold whole rows, so the last one wins. Folders may crash at any step.
 * Invariant of the real thing that is checked here: a reader never gets a row older than what was acknowledged before it began.
 */
import type { Model, Step } from "./explore.ts";

export interface FoldMistakes {
  /** Begin the next journal without the lock that appends are made under. */
  readonly beginOutsideLock?: boolean;
  /** Delete the journals before the snapshot that holds them is in its place. */
  readonly deleteFirst?: boolean;
  /** Read without listing the journals again at the end. */
  readonly listOnce?: boolean;
}
export interface FoldBounds {
  readonly changes: number;
  readonly folders: number;
  readonly crashes: number;
  readonly mistakes?: FoldMistakes;
}

interface Folder {
  readonly at: "idle" | "read" | "rename" | "delete" | "done" | "dead";
  /** The last journal that is folded. */
  readonly upTo: number;
  readonly row: number;
}
interface State {
  readonly snapshot: number;
  /** Number of the journal and the last row in it (0: none), in order. */
  readonly journals: readonly (readonly [number: number, row: number])[];
  readonly acknowledged: number;
  /** The journal the writer found under the lock and is about to append to; 0: the lock is free. */
  readonly writing: number;
  readonly foldedBy: number | null;
  readonly folders: readonly Folder[];
  readonly reader: {
    readonly at: "idle" | "snapshot" | "journals" | "again" | "done";
    readonly listed: readonly number[];
    readonly left: readonly number[];
    readonly row: number;
    /** What had been acknowledged when it began. */
    readonly since: number;
  };
  readonly crashes: number;
}

export function foldModel({ changes, folders, crashes, mistakes = {} }: FoldBounds): Model<State> {
  return {
    initial: {
      snapshot: 0,
      journals: [[1, 0]],
      acknowledged: 0,
      writing: 0,
      foldedBy: null,
      folders: Array.from({ length: folders }, () => ({ at: "idle" as const, upTo: 0, row: 0 })),
      reader: { at: "idle", listed: [], left: [], row: 0, since: 0 },
      crashes,
    },
    steps: (state) => [
      ...writerSteps(state, changes),
      ...state.folders.flatMap((_, index) => folderSteps(state, index, mistakes)),
      ...readerSteps(state, mistakes),
    ],
    representative: (state) => state,
    key: (state) => JSON.stringify(state),
    broken: ({ reader }) =>
      reader.at === "done" && reader.row < reader.since
        ? `the reader got row ${reader.row}, though row ${reader.since} was acknowledged before it began`
        : null,
    finished: ({ acknowledged, folders: all, reader }) =>
      acknowledged === changes && reader.at === "done" && all.every(({ at }) => at === "done" || at === "dead"),
  };
}

function writerSteps(state: State, changes: number): readonly Step<State>[] {
  const newest = state.journals.at(-1)?.[0] ?? 0;
  if (state.acknowledged === changes) return [];
  if (state.writing === 0)
    return [{ what: `writer locks, finds journal ${newest}`, next: { ...state, writing: newest } }];
  const row = state.acknowledged + 1;
  const journals = state.journals.map(([n, last]) =>
    n === state.writing ? ([n, row] as const) : ([n, last] as const),
  );
  return [
    {
      what: `writer appends row ${row} to journal ${state.writing}`,
      next: { ...state, journals, acknowledged: row, writing: 0 },
    },
  ];
}

function folderSteps(state: State, index: number, mistakes: FoldMistakes): readonly Step<State>[] {
  const folder = state.folders[index];
  if (folder === undefined || folder.at === "done" || folder.at === "dead") return [];
  const go = (what: string, change: Partial<Folder>, shared: Partial<State> = {}): Step<State> => {
    const folders = state.folders.with(index, { ...folder, ...change });
    return { what: `folder ${index + 1} ${what}`, next: { ...state, ...shared, folders } };
  };
  const crash = go(
    "crashes",
    { at: "dead" },
    { crashes: state.crashes - 1, foldedBy: state.foldedBy === index ? null : state.foldedBy },
  );
  return [...foldStep(state, folder, index, mistakes, go), ...(state.crashes > 0 ? [crash] : [])];
}

type Go = (what: string, change: Partial<Folder>, shared?: Partial<State>) => Step<State>;

function foldStep(state: State, folder: Folder, index: number, mistakes: FoldMistakes, go: Go): readonly Step<State>[] {
  const old = state.journals.filter(([n]) => n <= folder.upTo);
  switch (folder.at) {
    case "idle": {
      const upTo = state.journals.at(-1)?.[0] ?? 0;
      const locked = state.writing !== 0 && mistakes.beginOutsideLock !== true;
      if (state.foldedBy !== null || locked) return [];
      const journals = [...state.journals, [upTo + 1, 0] as const];
      return [go(`begins journal ${upTo + 1}`, { at: "read", upTo }, { journals, foldedBy: index })];
    }
    case "read": {
      const row = Math.max(state.snapshot, ...old.map(([, last]) => last));
      return [go(`writes row ${row} aside`, { at: mistakes.deleteFirst === true ? "delete" : "rename", row })];
    }
    case "rename": {
      const at = mistakes.deleteFirst === true ? "done" : "delete";
      const foldedBy = at === "done" ? null : index;
      return [go("renames the snapshot into its place", { at }, { snapshot: folder.row, foldedBy })];
    }
    default: {
      const [first] = old;
      if (first !== undefined) {
        return [go(`deletes journal ${first[0]}`, {}, { journals: state.journals.filter((each) => each !== first) })];
      }
      if (mistakes.deleteFirst === true) return [go("deleted all", { at: "rename" })];
      return [go("is done", { at: "done" }, { foldedBy: null })];
    }
  }
}

function readerSteps(state: State, mistakes: FoldMistakes): readonly Step<State>[] {
  const { reader, journals } = state;
  const listed = journals.map(([n]) => n);
  const go = (what: string, change: Partial<State["reader"]>): readonly Step<State>[] => {
    return [{ what: `reader ${what}`, next: { ...state, reader: { ...reader, ...change } } }];
  };
  switch (reader.at) {
    case "idle":
      return go("lists the journals", { at: "snapshot", listed, left: listed, since: state.acknowledged });
    case "snapshot":
      return go(`reads row ${state.snapshot} in the snapshot`, { at: "journals", row: state.snapshot });
    case "journals": {
      const [first, ...left] = reader.left;
      if (first === undefined) return go("has replayed all", { at: mistakes.listOnce === true ? "done" : "again" });
      const row = journals.find(([n]) => n === first)?.[1];
      if (row === undefined) return go(`finds journal ${first} gone`, { left });
      return go(`replays journal ${first}`, { left, row: row === 0 ? reader.row : row });
    }
    case "again":
      if (String(listed) === String(reader.listed)) return go("lists the same again", { at: "done" });
      return go("finds other journals and begins again", { at: "snapshot", listed, left: listed });
    default:
      return [];
  }
}
