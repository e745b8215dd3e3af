#!/usr/bin/env bash
# A gateway is killed while a command runs, and started again: the command runs on, and its real output is delivered, once.
# Uses the offline rehearsal model and a home of its own, which is removed at the end. SECONDS_LONG: how long the command runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
long=${SECONDS_LONG:-20}
export HOLDFAST_HOME HOLDFAST_LOG=warn
HOLDFAST_HOME=$(mktemp -d)
# The Node of the checkout: under an older one of the system the launcher would start another process.
PATH="$PWD/node_modules/.bin:$PATH"
program=packages/cli/bin/holdfast.js
holdfast() { node "$program" "$@"; }
cat >"$HOLDFAST_HOME/holdfast.json" <<'JSON'
{ agents: { defaults: { model: { primary: "rehearsal/offline" }, tools: { approve: [] } } }, gateway: { port: 0 } }
JSON
gateway=
trap '[ -z "$gateway" ] || kill "$gateway" 2>/dev/null || true; wait || true; rm -rf "$HOLDFAST_HOME"' EXIT

says() { printf '\n\033[1m$ %s\033[0m\n' "$*"; }
start() {
  says "holdfast gateway &"
  # Not through the function: what is killed below has to be the gateway itself, not a shell around it.
  node "$program" gateway >"$HOLDFAST_HOME/out" 2>&1 &
  gateway=$!
  until grep -q 'http://' "$HOLDFAST_HOME/out"; do sleep 0.05; done
  echo "running as process $gateway"
}
starts() { cat "$HOLDFAST_HOME/workspace/starts.txt" 2>/dev/null || true; }

start
says "holdfast send --session main 'run echo started >> starts.txt; sleep $long; echo done'   (in another window)"
node "$program" send --session main "run echo started >> starts.txt; sleep $long; echo done" >"$HOLDFAST_HOME/answer" 2>&1 &
until [ -n "$(starts)" ]; do sleep 0.05; done
echo "the command runs"
says "kill -9 $gateway"
kill -9 "$gateway"
wait "$gateway" 2>/dev/null || true
gateway=
wait
echo "the other window says: $(cat "$HOLDFAST_HOME/answer")"
start
says "holdfast actions --session main"
holdfast actions --session main
says "holdfast lanes   (until nothing is left)"
until holdfast lanes --json | grep -q '"items":\[\]'; do sleep 0.5; done
echo "nothing waits"
says "holdfast session tree main"
holdfast session tree main | tail -n 12
says "holdfast actions --session main"
holdfast actions --session main
says "cat starts.txt"
starts
