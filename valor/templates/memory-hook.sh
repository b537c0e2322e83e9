#!/bin/bash
# Recall into a session: takes a hook's event on standard input. Written by `valor init`.
#
# Two of three tool calls are only counted, by one byte in the state folder; the rest go to the
# interpreter and the file that valor left in $state/hook. A hook may never harm the session: the exit
# code is 0 whatever happens, and what is printed is the answer or nothing.
exec 2>/dev/null
LC_ALL=C # a character is a byte, also where bytes are no text
trap 'exit 0' EXIT
case ${1:-} in
-h | --help)
    cat <<'HELP'
Usage: memory-hook.sh < EVENT

Answers a hook event of an agent's harness (Claude Code, Codex, Gemini CLI, Cursor) with what the
project's memory knows about the work at hand: one JSON object, or nothing.

Example: echo '{"hook_event_name":"UserPromptSubmit","prompt":"flaky test"}' | memory-hook.sh
Example: LOA_MEMORY_ENABLED=false memory-hook.sh < event.json

Exit codes: 0 always.
HELP
    exit 0
    ;;
esac

# The beginning, so that the interpreter gets the rest; before any exit, or the writer meets a closed pipe.
# bash reads it itself, up to the first brace that closes (of a writer that keeps its end open, all there
# will be), and waits no longer than a second; another shell, named by the caller, leaves it to dd, which
# reads once, and to the harness's own patience.
if [ -n "${BASH_VERSION:-}" ]; then
    IFS='' read -r -t 1 -d '}' -n 640 head && [ ${#head} -lt 640 ] && head="$head}"
else
    head=$(dd bs=2048 count=1)
fi
case ${LOA_MEMORY_ENABLED:-} in [Ff][Aa][Ll][Ss][Ee] | 0 | [Nn][Oo] | [Oo][Ff][Ff]) exit 0 ;; esac
case ${XDG_STATE_HOME:-} in
/*) state=$XDG_STATE_HOME/valor ;;
*) case ${HOME:-} in /*) state=$HOME/.local/state/valor ;; *) exit 0 ;; esac ;;
esac
[ -n "$head" ] || exit 0
umask 077
# Where nobody ran valor yet (a clone on a new machine), or what ran it is gone: from the next event on.
wake() {
    case $head in
    *'"SessionStart"'* | *'"sessionStart"'* | *'"UserPromptSubmit"'* | *'"BeforeAgent"'*)
        # One at a time; what a killed one left behind counts for a minute.
        if command -v valor >/dev/null && mkdir -p "$state"; then
            [ -z "$(find "$state/waking" -prune -mmin +1)" ] || rmdir "$state/waking"
            mkdir "$state/waking" && (valor sync </dev/null >/dev/null; rmdir "$state/waking") &
        fi
        ;;
    esac
    exit 0
}
[ -f "$state/hook" ] && [ -r "$state/hook" ] || wake

# The text of a key of the event, in $value; a key inside the tool's own text has escaped quotes.
text() {
    value=${head#*\""$1"\":}
    case $value in
    "$head") value='' ;;
    \"* | " "\"*) value=${value#*\"} value=${value%%\"*} ;;
    *) value='' ;;
    esac
}

text hook_event_name
case $value in PostToolUse | AfterTool | postToolUse) text transcript_path ;; *) value='' ;; esac
if [ -n "$value" ]; then
    text session_id
    [ -n "$value" ] || text conversation_id
    case $value in . | .. | *[!A-Za-z0-9._-]*) value='' ;; esac
    if [ -n "$value" ] && [ ${#value} -le 128 ]; then
        calls=$state/sessions/$value/calls
        [ -f "$calls" ] || [ ! -e "$calls" ] || exit 0
        printf . >>"$calls" || { mkdir -p "${calls%/*}" && printf . >>"$calls"; } || exit 0
        read -r value <"$calls"
        case $value in . | ..) exit 0 ;; esac
        printf '' >"$calls"
    fi
fi

{ IFS='' read -r python && IFS='' read -r hook; } <"$state/hook"
[ -x "$python" ] && [ -r "$hook" ] || wake
VALOR_EVENT_HEAD=$head "$python" -I -S "$hook" "$state"
exit 0
