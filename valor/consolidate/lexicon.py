"""The words that decide whether two statements may be the same: small, closed lists, as stems.

What is not here is decided by form (numbers, names, paths) or not at all. Each list errs towards
keeping observations apart.
"""

from __future__ import annotations

from collections.abc import Iterable

from valor.tokens import stem


def _stems(words: str) -> frozenset[str]:
    return frozenset(stem(word) for word in words.split())


_FILLERS = "a an the this that these those please simply really actually basically currently"
FILLERS = frozenset(_FILLERS.split())
"""Words, as written, that may come and go without changing what is said."""

LABELS = _stems("""
    feat feature fix bug bugfix chore docs doc test tests refactor style perf build ci note til
    learned learning discovery pattern error decision correction surprise
    """)
"""Labels in front of a summary that say what kind of statement it is, not what it is about."""

NEGATIONS = _stems("""
    not no never cannot can't won't don't doesn't didn't isn't aren't wasn't weren't shouldn't
    mustn't wouldn't couldn't hasn't haven't nor neither without nothing none nobody nowhere hardly
    barely unless revert reverts reverted reverting undo undoes undone
    nicht kein keine keinen keiner ohne nie niemals pas sans jamais sin nunca jamás
    """)
"""Words that turn a statement into its contrary."""

RETRACTING = _stems("""
    false wrong incorrect untrue myth rejected retracted withdrawn outdated obsolete disproved correction
    """)
"""Labels in front of a summary that say that what follows does not hold."""

FURTHER = _stems("""
    only except during also too but still nobody will if
    """)
"""Words with which a statement limits or goes on from another; what has them in addition is no repetition."""

DENIALS = _stems("""
    wrong false incorrect untrue mistaken correction outdated obsolete disproved superseded
    """)
"""Words that say of a statement that it does not hold."""

LIMITS = _stems("""
    only except unless if when whenever where but however until while provided assuming outside
    excluding although though otherwise
    """)
"""Words that say where a statement holds and where it does not."""

_COUNTED = "two three four five six seven eight nine ten eleven twelve"
NUMBER_WORDS = {word: str(number) for number, word in enumerate(_COUNTED.split(), 2)}

# A row is a set of groups that exclude one another; words of one group mean the same.
_OPPOSITES = """
add insert introduce / remove delete drop strip
enable activate / disable deactivate
allow permit / disallow forbid deny reject prohibit block
accept / reject refuse
increase raise grow bump / decrease reduce lower shrink
before / after
vor / nach
avant / après
avec / sans
mit / ohne
con / sin
and / or
both / either
only / also
with / without
always / never
all every each / none some few
true / false
on / off
yes / no
sync synchronous / async asynchronous
import / export
start begin launch / stop end halt
open / close
include / exclude
read / write
get / set
show display expose / hide
lock / unlock
install / uninstall
push / pull
upgrade / downgrade
first / last
min minimum minimal / max maximum maximal
least / most
positive / negative
success succeed pass / failure fail
client / server
request / response
input / output
left / right
top / bottom
up / down
encode / decode
serialize / deserialize
encrypt / decrypt
compress / decompress
local / remote
public / private
internal / external
source / target destination
parent / child
upper / lower
early / late
new / old
safe / unsafe
strict / lenient loose
mutable / immutable
static / dynamic
ascending / descending
horizontal / vertical
prefix / suffix
key / value
sender / receiver
development dev / production prod / staging
debug / release
must required mandatory / may optional
keep retain / discard
merge / split
attach / detach
connect / disconnect
mount / unmount
register / unregister
subscribe / unsubscribe
load / unload
freeze / unfreeze thaw
good / bad
valid / invalid
supported / unsupported
known / unknown
used / unused
explicit / implicit
faster / slower
more / less fewer
above over / below under
windows win / unix posix / linux / macos darwin osx mac / freebsd bsd / android / ios
tcp / udp
http / https
ipv4 / ipv6
amd64 x86 x86_64 / arm64 aarch64 arm
mysql / postgres postgresql / sqlite
get / post / put / patch
json / yaml / toml / xml
stdin / stdout / stderr
int integer / float / string str / bool boolean
monday / tuesday / wednesday / thursday / friday / saturday / sunday
january / february / march / april / may / june / july / august / september / october / november / december
"""

# What a later line can take back: verbs of the earlier, verbs of the later.
_REVERSALS = """
add introduce implement create / remove delete drop
enable activate / disable deactivate
allow permit / disallow forbid prohibit
install / uninstall
expose / hide
pin / unpin
mock / unmock
"""
_RESTORING = ("restore", "reinstate", "reintroduce")

PLATFORMS = _stems("""
    windows win unix posix linux macos darwin osx mac freebsd bsd android ios arm arm64 aarch64 amd64
    x86 development dev production prod staging ci mysql postgres postgresql sqlite
    """)
"""Where something holds; what names none of them may hold everywhere."""

QUANTIFIERS = _stems("""
    some more few several many most partially partly
    """)
"""Words that make a reversal one of a part."""

GENERIC = _stems("""
    add implement new introduce make use support fix correct handle update change improve mention
    document ensure resolve clarify avoid adjust tweak better allow provide
    """)
"""Words in front of a summary that say that something was done, not what."""

_CONFUSABLE = """
    scraping/scrapping commander/commandeer treaties/treatise complaint/compliant soldier/solider
    carvings/cravings planning/planing compiled/complied compiles/complies discreet/discrete
    """
CONFUSABLE = frozenset(_stems(pair.replace("/", " ")) for pair in _CONFUSABLE.split())
"""Pairs of real words, as stems, that look like a typo of one another."""


def _rows(table: str) -> Iterable[list[frozenset[str]]]:
    return ([_stems(group) for group in row.split(" / ")] for row in table.strip().splitlines())


def _opposites() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for row in _rows(_OPPOSITES):
        for group in row:
            others = frozenset[str]().union(*(other for other in row if other is not group))
            for word in group:
                table.setdefault(word, set()).update(others - group)
    return {word: frozenset(others) for word, others in table.items()}


def _reversals() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for one, other in _rows(_REVERSALS):
        for word in one:
            table.setdefault(word, set()).update(other)
        for word in other:
            table.setdefault(word, set()).update(one | _stems(" ".join(_RESTORING)))
    return {word: frozenset(others) for word, others in table.items()}


OPPOSITES = _opposites()
"""Each stem and the stems that exclude it."""

REVERSALS = _reversals()
"""Each verb's stem and the verbs whose later use takes it back."""
