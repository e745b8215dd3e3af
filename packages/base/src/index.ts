/** What every package may use; it has no opinion about sessions. */
export { assert, assertNever } from "./assert.ts";
export {
  BASE_ERRORS,
  BaseError,
  type BaseErrorCode,
  CodedError,
  type ErrorDetails,
  type ErrorTable,
  errnoOf,
  fill,
  isCoded,
  messageOf,
} from "./errors.ts";
export {
  type FileLock,
  type FileLocks,
  fileLock,
  type KeptLock,
  type KernelLock,
  kernelLockAvailable,
  keptFileLock,
  readLockNote,
  realFileLocks,
  tryFileLock,
} from "./file-lock.ts";
export { makePrivateDirectory, syncDirectory, writeWhole } from "./files.ts";
export { bootId, type Identity, identityOf, type Liveness, livenessOf, parseIdentity } from "./identity.ts";
export { canonical, digest, isDeeper, isObject, type Json, type JsonObject, sha256, tryParse } from "./json.ts";
export { LIMITS } from "./limits.ts";
export { type PointHook, pointsFromEnvironment } from "./points.ts";
export { openRegularSync, readText } from "./regular-file.ts";
export { durationMs, sizeBytes } from "./units.ts";
export { type IdKind, makeId, realWorld, uuidV7, type World } from "./world.ts";
