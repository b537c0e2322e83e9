"""What the model is told: the server's instructions, the tools' descriptions, their arguments.

Facts, not orders: text that sounds like a command can set off a client's defences. Clients cut
instructions and descriptions at 2 KB.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

INSTRUCTIONS = """\
This server is the memory of the repository: an append-only log in git of what was learned while
working on it (framework patterns, debugging discoveries, decisions). Earlier sessions and other
people wrote it; looking there costs less than finding it out again.

memory_search finds observations by words, type, tag and time, about 50 tokens each; memory_get opens
one in full. memory_observe writes down one finding in a sentence; memory_route says which store owns
a fact without writing anything.

Technical facts that hold whoever works here belong in this log. What only a person's wish justifies
(a preference, a working style) belongs to the assistant's own memory, rules for every contributor to
the instruction files, secrets and task state nowhere: memory_observe refuses those and names the
place.

Each call works on the checkout that cwd lies in; without cwd, on the one the server was started in.
A linked worktree or another repository is reached through cwd."""

SEARCH = """\
Search the repository's memory, or list the newest where query is empty. Words are matched by stem,
identifiers also by their parts (task_tools, crew:run, taskTools), best match first; one rare word is
enough, and nonsense finds nothing. The filters hold together. level "index" costs about 50 tokens an
observation, "summary" about 200. Superseded and private observations are left out, secrets are
masked."""

GET = """\
One observation in full, by its id or a prefix that only one id has. A superseded id answers with the
observation that replaced it, and replaces names the id that was asked for. A retracted one is an
error that says so."""

OBSERVE = """\
Write one finding into the repository's log; the answer holds its id. The log is committed and read by
everyone who works here. Good observations name what happens, where, and why. The same text again
writes nothing and answers with the existing id. Refused, with the reason and nothing written: secrets,
acknowledgements and fragments, and facts that another store owns (the error names it). Parts between
<private> and </private> are taken out. supersedes names observations that this one replaces."""

ROUTE = """\
Which store owns a fact: observations (this log), auto-memory, instructions or nowhere, with the row of
the routing table that decided; ambiguous where two fit. Writes nothing."""

Cwd = Annotated[
    str, Field(description="A folder in the checkout; default: the one the server was started in.")
]
Words = Annotated[str, Field(description="What to look for.")]
Type = Annotated[
    str, Field(description="discovery, learning, pattern, error, decision, correction or surprise.")
]
Tags = Annotated[Sequence[str], Field(description="Tags, e.g. redis or ci; in a search, any of them.")]
Since = Annotated[str, Field(description="From this date or time on (2026-11-30), UTC.")]
Until = Annotated[str, Field(description="Up to this date or time.")]
Session = Annotated[str, Field(description="Only what this session wrote.")]
Limit = Annotated[int, Field(ge=1, le=100, description="How many.")]
Level = Annotated[str, Field(description="index or summary.")]
Id = Annotated[str, Field(description="An id such as obs-1790000000-3f9a1c2b7d04, or its beginning.")]
Summary = Annotated[str, Field(description="What was learned, in a sentence.")]
Details = Annotated[str, Field(description="The rest of it.")]
References = Annotated[Sequence[str], Field(description="Files, path:line or commits it is about.")]
Supersedes = Annotated[Sequence[str], Field(description="Ids that this replaces.")]
Importance = Annotated[float | None, Field(description="0 to 10; default 8.")]
Owner = Annotated[str, Field(description="observations: write it here whatever the routing table says.")]
Redact = Annotated[bool, Field(description="Write a text that holds a secret with the secret replaced.")]
Text = Annotated[str, Field(description="The fact, as it would be written down.")]

# Hints speak to the command line; these are the same things here.
_SPOKEN = (
    ("--redact", "redact=true"),
    ("--owner observations", 'owner="observations"'),
    ("with --ref", "in references"),
    ("`valor memory-query --index`", "memory_search"),
)


def spoken(hint: str) -> str:
    """The hint in terms of the tools' arguments."""
    for said, meant in _SPOKEN:
        hint = hint.replace(said, meant)
    return hint
