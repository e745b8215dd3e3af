/**
 * Files beside a transcript that are not part of it and go with it: the store removes them when it puts the transcript away
 * or destroys it.
 */

/** Where what is known of the requests made for a conversation is kept. `transcript`: path of its live file. */
export function requestsPath(transcript: string): string {
  return `${transcript.replace(/\.jsonl$/, "")}.requests`;
}
