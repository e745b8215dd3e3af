/** Every limit in one place, unit last in the name. A loop or queue without a number here is a bug. */

export const LIMITS = {
  /** Model questions in one turn, before the turn stops and says so. */
  turnStepsMax: 40,
  /** Longest silence of a model that is answering. */
  modelIdleMs: 180_000,
  /** Attempts of one lane item without progress, and in all, before it fails visibly (durability.md). */
  attemptsWithoutProgressMax: 3,
  attemptsMax: 8,
  /** Turn right: lease and renewal. The renewal must stay below half the lease. */
  leaseMs: 30_000,
  leaseRenewMs: 10_000,
  /** An item that finds the right in other hands waits this long, doubling to the second number. */
  busyDelayMs: 1_000,
  busyDelayMaxMs: 30_000,
  /** Longest wait that a provider may ask for; a message that would wait longer fails visibly. */
  retryAfterMaxMs: 300_000,
  /** Write lock. */
  writeLockTimeoutMs: 60_000,
  writeLockStaleMs: 1_800_000,
  writeLockMaxHoldMs: 300_000,
  /** One transcript line; larger ones are read, never written by us. */
  entryBytesMax: 16 * 1024 * 1024,
  /** Bytes before our position that are compared when a file looks touched. */
  tailCompareBytes: 64 * 1024,
  /** Levels of nesting in what a model asks for, and in values whose digest is taken: recursion over more could end the stack. */
  argumentLevelsMax: 200,
  canonicalLevelsMax: 1_000,
  /** Reading backwards goes in steps of this size. */
  readChunkBytes: 256 * 1024,
  /** Journals are folded into the snapshot when they exceed max(this, snapshot). */
  journalFoldBytes: 1024 * 1024,
  /** What one tool result gives to the model. */
  toolResultCharsMax: 50_000,
  /** One accepted message. */
  messageBytesMax: 1024 * 1024,
  /** One attachment, and how many one message has. */
  attachmentBytesMax: 25 * 1024 * 1024,
  attachmentsMax: 20,
  /** A picture that goes to the model as one, and all pictures of one message: larger ones are named, and stay files. */
  imageBytesMax: 5 * 1024 * 1024,
  /** What a picture that came with a message is made to fit, if it can be: every provider takes that. */
  imageEdgeMax: 2_000,
  imageSentBytesMax: 3 * 1024 * 1024,
  imagesBytesMax: 10 * 1024 * 1024,
  /** Of a question that a summary repeats because its answer goes on behind it. */
  compactionQuestionCharsMax: 4_000,
  /** What is kept of the requests of one conversation (as much as its transcript has, between these), and of one piece. */
  requestLogBytesMin: 256 * 1024,
  requestLogBytesMax: 4 * 1024 * 1024,
  requestPieceBytesMax: 256 * 1024,
  /** Events kept for clients that reconnect. */
  eventsKeptMax: 2_000,
} as const;
