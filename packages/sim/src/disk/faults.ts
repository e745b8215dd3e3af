/**
 * What can go wrong at one operation of a simulated process, and which of it can happen to which operation.
 * Invariant: `faultsFor` is a function of the operation alone, so all points of a scenario can be counted beforehand.
 */
import type { DataLoss, FailedPages } from "./content.ts";
import type { NameLoss, PowerLoss } from "./image.ts";

export type OpKind =
  | "open"
  | "create"
  | "read"
  | "write"
  | "sync"
  | "stat"
  | "list"
  | "link"
  | "rename"
  | "remove"
  | "renew"
  | "makeDirectory"
  | "syncDirectory"
  | "realpath"
  | "close"
  | "lock"
  | "note"
  | "readNote"
  /** A transaction of another store: done whole and durable, or not at all. */
  | "commit"
  /** Something happens in the world. */
  | "effect";

export type When = "before" | "after";

export type Fault =
  /** The process is gone; the machine runs on. */
  | { readonly kind: "kill"; readonly when: When }
  /** The process is gone in the middle of a write: `bytes` of it are there. */
  | { readonly kind: "torn"; readonly bytes: number }
  /** Every process is gone, and of what was not synced what the loss says. */
  | { readonly kind: "power"; readonly when: When; readonly loss: PowerLoss }
  /** The operation does nothing and fails. */
  | { readonly kind: "fail"; readonly code: "EIO" | "ENOSPC" }
  /** The write takes `bytes` and says so. */
  | { readonly kind: "short"; readonly bytes: number }
  | { readonly kind: "sync-fails"; readonly pages: FailedPages }
  /** It is done, and whoever asked for it is told that it failed. */
  | { readonly kind: "unanswered" }
  /** The process stops here until it is woken. */
  | { readonly kind: "freeze" };

/** One operation of a process, as it is known before it is done. */
export interface Op {
  readonly kind: OpKind;
  /** The last part of the path. */
  readonly name: string;
  /** Bytes to be written, 0 for everything but writes. */
  readonly bytes: number;
}

const CHANGES: ReadonlySet<OpKind> = new Set([
  "create",
  "link",
  "rename",
  "remove",
  "makeDirectory",
  "write",
  "renew",
  "note",
  "commit",
  "effect",
]);
const NEEDS_SPACE: ReadonlySet<OpKind> = new Set([
  "create",
  "link",
  "rename",
  "makeDirectory",
  "write",
  "note",
  "commit",
]);
/** Done at once, within one call: nobody can be frozen in them. */
const IMMEDIATE: ReadonlySet<OpKind> = new Set(["lock", "note", "readNote", "commit"]);

const DATA_LOSSES: readonly DataLoss[] = ["lost", "kept", "zeros"];
const NAME_LOSSES: readonly NameLoss[] = ["lost", "kept"];

/** Deaths: kills before and after, torn writes, and the power lost after every operation that changed something. */
export function deathsAt(op: Op, everyByte: boolean): readonly Fault[] {
  const kills: Fault[] = [{ kind: "kill", when: "before" }];
  const changes = CHANGES.has(op.kind);
  const torn = cutsOf(op.bytes, everyByte).map((bytes): Fault => ({ kind: "torn", bytes }));
  const losses = DATA_LOSSES.flatMap((data) => NAME_LOSSES.map((names) => ({ data, names })));
  const cut = cutsOf(op.bytes, false).map((bytes) => ({ data: { torn: bytes }, names: "kept" as const }));
  const before = losses.map((loss): Fault => ({ kind: "power", when: "before", loss }));
  const after = [...losses, ...cut].map((loss): Fault => ({ kind: "power", when: "after", loss }));
  return changes ? [...kills, { kind: "kill", when: "after" }, ...torn, ...before, ...after] : [...kills, ...before];
}

/** What the system refuses, once: the process lives on and has to cope. */
export function refusalsAt(op: Op, everyByte: boolean): readonly Fault[] {
  if (op.kind === "close" || op.kind === "realpath") return [];
  if (op.kind === "sync") {
    return (["kept", "clean", "gone"] as const).map((pages): Fault => ({ kind: "sync-fails", pages }));
  }
  const short = op.kind === "write" ? [0, ...cutsOf(op.bytes, everyByte)] : [];
  const full: Fault[] = NEEDS_SPACE.has(op.kind) ? [{ kind: "fail", code: "ENOSPC" }] : [];
  const unanswered: Fault[] = op.kind === "effect" ? [{ kind: "unanswered" }] : [];
  return [
    { kind: "fail", code: "EIO" },
    ...full,
    ...unanswered,
    ...short.map((bytes): Fault => ({ kind: "short", bytes })),
  ];
}

export function freezesAt(op: Op): readonly Fault[] {
  return IMMEDIATE.has(op.kind) ? [] : [{ kind: "freeze" }];
}

/** Whether this can happen at such an operation; what cannot does not. */
export function suits(fault: Fault, op: Op): boolean {
  if (fault.kind === "kill" || fault.kind === "power") return true;
  if (fault.kind === "freeze") return freezesAt(op).length > 0;
  if (fault.kind === "torn" || fault.kind === "short") return fault.bytes < op.bytes;
  return refusalsAt(op, false).some(({ kind }) => kind === fault.kind);
}

/** Where a write may be cut: its first and last byte and the middle, or everywhere. */
function cutsOf(bytes: number, everyByte: boolean): readonly number[] {
  if (everyByte) return Array.from({ length: Math.max(0, bytes - 1) }, (_, index) => index + 1);
  return [...new Set([1, Math.floor(bytes / 2), bytes - 1])].filter((cut) => cut > 0 && cut < bytes);
}

/** For tables and traces. */
export function describeFault(fault: Fault): string {
  switch (fault.kind) {
    case "kill":
      return `killed ${fault.when}`;
    case "torn":
      return `killed after ${fault.bytes} bytes`;
    case "power": {
      const { data, names } = fault.loss;
      const bytes = typeof data === "string" ? data : `torn at ${data.torn}`;
      return `power lost ${fault.when}, bytes ${bytes}, names ${typeof names === "string" ? names : names.map(Number).join("")}`;
    }
    case "fail":
      return fault.code;
    case "short":
      return `short write of ${fault.bytes}`;
    case "sync-fails":
      return `sync fails, pages ${fault.pages}`;
    case "unanswered":
      return "done, its answer lost";
    case "freeze":
      return "frozen";
  }
}
