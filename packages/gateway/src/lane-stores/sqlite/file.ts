/**
 * The lanes' file at work: carries out steps, many in one transaction.
 *
 * [ step, step, ... ] → one commit → [ outcome, outcome, ... ]
 * Invariants: no outcome is known before the commit that holds it is on the disk; a step that is not possible, or fails,
 * changes nothing and takes no other with it.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { messageOf } from "@holdfast/base";
import { GatewayError } from "../../errors.ts";
import { openDatabase, placeCheck } from "./open.ts";
import {
  claimNext,
  earliest,
  GIVE_BACK,
  INSERT,
  itemOf,
  listed,
  newRow,
  otherHolders,
  type Prepare,
  RENEW,
  statementOf,
  withKey,
} from "./statements.ts";
import { type NamedChange, type Outcome, onlyReads, type Step } from "./steps.ts";

export interface LaneFile {
  /** One outcome for each, in their order. */
  run(steps: readonly Step[]): readonly Outcome[];
  close(): void;
}

interface Opened {
  readonly db: DatabaseSync;
  readonly sql: Prepare;
  readonly checkInPlace: (undo?: () => unknown) => void;
}

/** A step that turned out not to be possible: undone, and its answer. */
class NotPossible extends Error {}

/** Opens or makes the file (0600). Throws `lanes_unusable`. */
export function openLaneFile(path: string): LaneFile {
  const db = openDatabase(path);
  const opened: Opened = { db, sql: statements(db), checkInPlace: placeCheck(path) };
  return {
    run: (steps) => runAll(opened, steps),
    close: () => db.close(),
  };
}

/** Prepares each statement once. */
function statements(db: DatabaseSync): Prepare {
  const prepared = new Map<string, StatementSync>();
  return (sql) => {
    const known = prepared.get(sql) ?? db.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
}

function runAll(opened: Opened, steps: readonly Step[]): readonly Outcome[] {
  if (steps.every(onlyReads)) return steps.map((step) => outcomeOf(() => carryOut(opened, step)));
  try {
    return steps.some(isArrival) ? withArrivals(opened, steps) : together(opened, steps);
  } catch (error) {
    // One of many must not spoil the others: each by itself, so that only who is at fault hears of it.
    if (steps.length > 1) return steps.flatMap((step) => runAll(opened, [step]));
    return [failure(error)];
  }
}

function isArrival(step: Step): boolean {
  return step.kind === "enqueue" && step.item.lane === "main";
}

/** What is acknowledged must be where the next process looks for it; what is refused must not run. */
function withArrivals(opened: Opened, steps: readonly Step[]): readonly Outcome[] {
  opened.checkInPlace();
  const outcomes = together(opened, steps);
  opened.checkInPlace(() => {
    for (const step of steps)
      if (step.kind === "enqueue") opened.sql("delete from items where id = :id").run({ id: step.item.id });
  });
  return outcomes;
}

/** All in one transaction, each behind its own savepoint. Throws when the transaction as a whole fails; nothing is changed then. */
function together(opened: Opened, steps: readonly Step[]): readonly Outcome[] {
  const { db } = opened;
  db.exec("begin immediate");
  try {
    const outcomes = steps.map((step) => within(db, () => carryOut(opened, step)));
    db.exec("commit");
    return outcomes;
  } catch (error) {
    if (db.isTransaction) db.exec("rollback");
    throw error;
  }
}

function within(db: DatabaseSync, work: () => unknown): Outcome {
  db.exec("savepoint step");
  const outcome = outcomeOf(work);
  // A full disk can end the whole transaction; then the others have to be done again.
  if (!db.isTransaction)
    throw new Error(outcome.kind === "error" ? String(outcome.details.why) : "the transaction ended");
  if (outcome.kind === "error" || outcome.value === false) db.exec("rollback to step");
  db.exec("release step");
  return outcome;
}

function outcomeOf(work: () => unknown): Outcome {
  try {
    return { kind: "done", value: work() };
  } catch (error) {
    if (error instanceof NotPossible) return { kind: "done", value: false };
    return failure(error);
  }
}

function failure(error: unknown): Outcome {
  if (error instanceof GatewayError) return { kind: "error", code: error.code, details: error.details };
  return { kind: "error", code: "lane_write_failed", details: { why: messageOf(error) } };
}

function carryOut({ sql }: Opened, step: Step): unknown {
  switch (step.kind) {
    case "enqueue": {
      const by = { holder: null, nowMs: step.nowMs };
      const fresh = changeOne(sql, { kind: "enqueue", item: step.item }, by);
      if (fresh) for (const change of step.also) changeOne(sql, change, by);
      return { fresh, item: withKey(sql, step.item) };
    }
    case "claim":
      return claimNext(sql, step.request);
    case "renew":
      return renew(sql, step);
    case "commit":
      for (const change of step.changes)
        if (!changeOne(sql, change, step) && change.kind !== "enqueue") throw new NotPossible();
      return true;
    case "holders":
      return otherHolders(sql, step.but);
    case "giveBack":
      return step.holders.reduce((total, other) => total + Number(sql(GIVE_BACK).run({ other }).changes), 0);
    case "get": {
      const row = sql("select * from items where id = :id").get({ id: step.id });
      return row && itemOf(row);
    }
    case "list":
      return listed(sql, step.query);
    case "nextDue":
      return earliest(sql, step.lane);
    case "forget":
      return Number(sql("delete from items where settled_ms < :before").run({ before: step.endedBeforeMs }).changes);
    default:
      return step satisfies never;
  }
}

function renew(sql: Prepare, { id, holder, leaseUntilMs }: Extract<Step, { kind: "renew" }>): boolean {
  return Number(sql(RENEW).run({ id, holder, until: leaseUntilMs }).changes) === 1;
}

/** False when it is not possible, or the key is there already; nothing is changed then. */
function changeOne(
  sql: Prepare,
  change: NamedChange,
  by: { readonly holder: string | null; readonly nowMs: number },
): boolean {
  if (change.kind === "enqueue") return Number(sql(INSERT).run(newRow(change.item, by.nowMs)).changes) === 1;
  const [statement, values] = statementOf(change, by);
  return Number(sql(statement).run(values).changes) === 1;
}
