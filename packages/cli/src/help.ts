/** The help page: one screen, every command once. A test compares it with the commands that exist. */
export const HELP = `holdfast: an assistant whose conversations and actions survive kills

  holdfast gateway                     run it here; prints the address and a one-time sign-in link
  holdfast chat [--session KEY]        talk in the terminal
  holdfast send --session KEY TEXT     one message; prints the answer
  holdfast status · config check       is a gateway running, and with what · is holdfast.json right
  holdfast models list|test · usage    which are set up · whether they answer · what they cost
  holdfast demo [--seed N] [--lang L]  the to-do story, with a real SIGKILL, in a temporary home

  holdfast session list                what conversations there are (also: holdfast sessions)
  holdfast session show|why|tree|context NAME   one · which, and why · branches · for the model
  holdfast session search TEXT         in all of them, all branches, archived too (--limit N)
  holdfast session branch NAME ENTRY   go on from there (label NAME ENTRY TEXT: give it a name)
  holdfast session fork NAME KEY       another one that begins with a copy (rename NAME TEXT)
  holdfast session compact|reset|archive|restore|purge NAME · clear --session NAME|--all · cleanup
  holdfast session export NAME         to stdout: --format json, jsonl, markdown, html or flat
  holdfast session import FILE         take in a transcript, an export or the older layout
  holdfast migrate openclaw|pi DIR     bring a history over; the source is only read

  holdfast transcript verify FILE      is a transcript whole; works without a gateway or a home
  holdfast transcript tree|context FILE   its branches · what a model would get
  holdfast transcript append FILE      JSON lines from stdin; each acknowledged when it is durable
  holdfast transcript branch FILE ID   go on from that entry
  holdfast transcript repair FILE      a sound one beside it, and what had to be changed
  holdfast transcript convert FILE     an older version or layout, or an export, as version 3

KEY is a whole session key, such as agent:main:work; one that is not there yet is begun.
NAME is a session key, a session id, a unique beginning of one, "main", or <channel>_<userId>.
Everywhere: --json (one JSON value on stdout)  --home DIR (or $HOLDFAST_HOME, or ~/.holdfast)
            --agent ID  --version  --help (also after a command)
Exit codes: 0 ok  1 failed  2 wrong usage  3 problems found  4 busy  5 not found
`;
