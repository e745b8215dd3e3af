/**
 * The environment that a command gets: the gateway's own, without what is not its business.
 * Invariant: no key or token of the gateway reaches a command by inheritance; what a command prints ends up in a transcript.
 */
type Environment = Readonly<Record<string, string | undefined>>;

const OURS = /^HOLDFAST_/i;
const SECRET = /_KEYS?$|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|_PASS$|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL/i;

export function commandEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && !OURS.test(pair[0]) && !SECRET.test(pair[0]),
  );
  return Object.fromEntries(kept);
}
