/**
 * Mistakes somebody could make, one for each rule of docs/durability.md that speaks of turns, actions, lanes or replies. They
 * were written down from the rules alone; each has to be found by the campaign.
 */
import { describe, test } from "vitest";

/** The rule, and what is done instead. */
const MISTAKES: readonly (readonly [rule: string, mistake: string])[] = [
  ["an append of an older turn is refused", "appends are not checked against the turn"],
  ["a turn has one holder", "the right is given to everybody who asks"],
  ["whoever settles takes the action's lock first", "settled without the lock"],
  ["appended, synced, then acknowledged", "nothing is synced"],
  ["appended, synced, then acknowledged", "acknowledged while the sync is under way"],
  ["the names of new files are synced", "names are left to themselves"],
  ["the intent is durable before the effect", "the intent is written after the effect"],
  ["every effect has an intent", "no intent is written"],
  ["the effect, then its result", "the result is written before the effect"],
  ["one key for all attempts", "each attempt gets a key of its own"],
  ["happened only where a probe says so", "claimed to have happened"],
  ["absent only where a probe says so", "claimed to be absent"],
  ["a conflict is not repeated", "something else is there, and it is overwritten"],
  ["what nobody can tell is not repeated", "repeated because nobody can tell"],
  ["of two declarations the stricter counts", "a recorded declaration that was made milder is believed"],
  ["another home's intent is not settled here", "settled as if it were ours"],
  ["the ledger is asked before a business act", "the record is not read"],
  ["the record's lines are synced", "the record is written without a sync"],
  ["the supervisor marks the start before it runs anything", "it runs, then marks"],
  ["settled as never started makes a late start impossible", "absent is said without the void mark"],
  ["while work is in flight nothing is said of its end", "a running command is called lost"],
  ["a call that needs a yes waits for it", "run without asking"],
  ["an approval is used once, for its arguments", "asked or not, whoever said yes once has said it for all"],
  ["an approval has an end", "a yes counts whenever it comes"],
  ["an item is durable before it is acknowledged", "acknowledged first"],
  ["a key is in its lane once", "a redelivery is a new message"],
  ["the item remembers where it began", "the start is looked up again in every life"],
  ["reply queued and item done are one transaction", "done first, then queued"],
  ["a reply's key comes from its entry", "each attempt queues under a new key"],
  ["that a send begins is durable before it begins", "sent without a note"],
  ["an uncertain send follows its policy", "sent again although it shall be held"],
  ["an attempt is charged before the work", "never charged"],
  ["what was durable before the intent holds it back", "a stop is looked at only between questions"],
  ["an answer names what it answers", "whatever follows a message answers it"],
  ["a result hangs under its call", "a late result is written where the conversation stands"],
];

describe("a rule that is broken is found", () => {
  for (const [rule, mistake] of MISTAKES) test.todo(`${rule}: ${mistake}`);
});
