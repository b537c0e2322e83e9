#!/bin/sh
# @PURPOSE@: valor @COMMAND@, with nothing to activate. Written by `valor init`.
#
# It acts on the checkout of the working directory, else on the one this script lies in;
# PROJECT_ROOT names another. valor is $VALOR (a command); else .venv/bin/valor of that checkout,
# of the main checkout of its worktree, of this script's checkout; else the one on PATH, the one that
# ran `valor init`, or the one in ~/.local/bin.
set -u

self=$0
while [ -L "$self" ]; do
    target=$(readlink "$self")
    case $target in /*) self=$target ;; *) self=$(dirname -- "$self")/$target ;; esac
done
scripts=$(CDPATH='' cd -P -- "$(dirname -- "$self")" && pwd)
home=${scripts%/.claude/scripts}

root=${PROJECT_ROOT:-$(pwd -P)}
if [ -z "${PROJECT_ROOT:-}" ]; then
    while [ -n "$root" ] && [ ! -e "$root/.git" ]; do root=${root%/*}; done
    if [ -z "$root" ] && [ "$home" != "$scripts" ]; then export PROJECT_ROOT="$home"; fi
fi

main=$root
if [ -f "$root/.git" ]; then
    read -r _ main <"$root/.git"
    case $main in /*) ;; *) main=$root/$main ;; esac
    main=${main%/.git/*}
fi

valor=${VALOR:-}
for place in "$root" "$main" "$home"; do
    if [ -z "$valor" ] && [ -x "$place/.venv/bin/valor" ]; then valor=$place/.venv/bin/valor; fi
done
known=${XDG_STATE_HOME:-${HOME:-}/.local/state}/valor/command
[ -n "$valor" ] || valor=$(command -v valor || cat "$known" 2>/dev/null || echo "${HOME:-}/.local/bin/valor")
command -v "$valor" >/dev/null && exec "$valor" @COMMAND@ "$@"
echo "${VALOR:-valor}: not found; run \`pipx install valor-memory\` or \`pip install valor-memory\`" >&2
exit 5
