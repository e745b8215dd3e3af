/**
 * Turns what the operating system refused into `write_failed`, with the step that failed.
 * A failed `sync` is a case of its own: the kernel may have dropped the pages, so nothing read back proves anything.
 */
import { type CodedError, errnoOf, messageOf } from "@holdfast/base";
import { SessionError } from "../../errors.ts";

export type StorageStep = "lock" | "open" | "read" | "write" | "sync" | "link";

/** Coded errors pass through unchanged, whatever step they come from; so do errors that are bugs of ours. */
export function storageError(error: unknown, path: string, step: StorageStep): unknown {
  const errno = errnoOf(error);
  if (errno === undefined || isCoded(error)) return error;
  return new SessionError(
    step === "read" ? "read_failed" : "write_failed",
    { path, step, errno, reason: messageOf(error) },
    error,
  );
}

function isCoded(error: unknown): error is CodedError {
  return error instanceof Error && "details" in error;
}

/** Runs one step and names it in the error. */
export async function during<T>(path: string, step: StorageStep, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw storageError(error, path, step);
  }
}
