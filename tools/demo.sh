#!/usr/bin/env bash
# The main job from nothing, in a throw-away repository: init, observe, ask, route, check.
# On the shared corpus of real observations where it lies beside the checkout, else on this
# project's own log.
set -euo pipefail

here=$(cd "$(dirname "$0")/.." && pwd)
PATH="$here/.venv/bin:$PATH"
corpus="${VALOR_SHARED:-$here/../shared}/corpus/commits.jsonl"
[ -f "$corpus" ] || corpus="$here/grimoires/loa/memory/observations.jsonl"

scratch=$(mktemp -d)
trap 'valor server stop 2>/dev/null || true; rm -rf "$scratch"' EXIT
export HOME="$scratch" XDG_STATE_HOME="$scratch/state" VALOR_RUNTIME_DIR="$scratch/run" GIT_CONFIG_NOSYSTEM=1
unset PROJECT_ROOT
git init -q -b main "$scratch/project"
cd "$scratch/project"
touch pool.py

# Show a command, then run it; a code other than the expected one ends the demo.
show() {
    local expected=$1 code=0
    shift
    printf '\n$ %s\n' "$*"
    "$@" || code=$?
    [ "$code" = "$expected" ] || { printf 'demo: exit %s, expected %s\n' "$code" "$expected" >&2; exit 1; }
}

show 0 valor init
show 0 valor observe "The socket pool hands out a dead connection after a fork: it has to be rebuilt in the child" \
    --type error --tag sockets --ref pool.py:42
show 0 .claude/scripts/memory-query.sh "dead sockets after forking"
show 0 valor recall "why does the pool hang in a forked child?"

printf '\n== The same in the middle of a tool call, as a harness asks for it ==\n'
printf '%s' '{"session_id":"demo","cwd":"'"$PWD"'","hook_event_name":"PostToolUse","tool_name":"Bash",
  "tool_input":{"command":"pytest tests/test_pool.py -k fork"},
  "tool_response":{"stdout":"1 failed: dead connection from the socket pool after fork"}}' >"$scratch/event.json"
printf '$ memory-hook.sh < event.json\n'
told=$(.claude/scripts/memory-hook.sh <"$scratch/event.json")
printf '%s\n' "$told"
case $told in *'<thought id='*) ;; *) echo "demo: the hook told nothing" >&2; exit 1 ;; esac

show 3 valor observe "The user wants short answers without headings"
show 0 valor route "The user wants short answers without headings" --table

printf '\n== A real log: %s observations ==\n' "$(wc -l <"$corpus" | tr -d ' ')"
code=0
valor import "$corpus" >"$scratch/import.json" || code=$?
# 4: the secret detector refused a few lines of it, which the report names; the rest is in.
[ "$code" = 0 ] || [ "$code" = 4 ]
show 0 valor memory-query "connection pool timeout" --limit 3 --table
show 0 valor memory-query --stats --table
show 0 valor verify
printf '\nThe record is one file, in plain sight: %s lines of %s\n' \
    "$(wc -l <grimoires/loa/memory/observations.jsonl | tr -d ' ')" grimoires/loa/memory/observations.jsonl
