"""What an agent is told at the start of a session, whatever it will work on.

Part of the hot ring. Facts alone: harnesses take what reads like a command for an injection.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing costs half an interpreter start
if TYPE_CHECKING:
    from valor.answer import Told

LOG = "grimoires/loa/memory/observations.jsonl"
FIXED = f"""\
This project has a memory (valor). The observations log, {LOG}, owns framework patterns and debugging \
discoveries; the harness's own memory owns user preferences and working style.
The log is searched with `.claude/scripts/memory-query.sh "words"` (one in full: `--full ID`) or the tools \
memory_search and memory_get, and written with memory-observe.sh or memory_observe. What it knows about \
the work at hand arrives by itself, as <thought> lines."""
STANDING = "The strongest observations on record:"
MOST_CHARACTERS = 1_500


def written(found: list[Told]) -> str:
    """The brief with as many of these observations as have room."""
    lines = [FIXED]
    left = MOST_CHARACTERS - len(FIXED) - len(STANDING) - 1
    for each in found:
        if len(each.stub) < left:
            left -= len(each.stub) + 1
            lines += [each.stub] if len(lines) > 1 else [STANDING, each.stub]
    return "\n".join(lines)
