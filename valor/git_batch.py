"""The other half of ``valor.git``: what git knows of thousands of lines and files, one process a question.

Nothing here raises for a repository that lacks history, a commit or an object: what git cannot tell is
missing from the answer. Raised is Unavailable alone, where there is no git.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from valor.errors import NotAProject, Unavailable
from valor.git import find_checkout

_HASHES = (40, 64)  # hex digits of an object's name: SHA-1, SHA-256
_MOST_RANGES = 500  # -L options of one call; for more lines the whole file is blamed
_MOST_UNREADABLE = 20  # files that git may fail to digest before the rest is given up


def head(root: Path, seconds: float | None = None) -> str:
    """The commit that is checked out, in hex; "" where there is none, or no repository."""
    return (
        _output(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", seconds=seconds).decode().strip()
    )


def line_commits(root: Path, path: str, numbers: list[int], seconds: float | None = None) -> dict[int, str]:
    """The commit (hex; "" while it is not committed) that brought each of these lines (1-based) of the file
    as it stands in the working tree. A line is missing where its commit cannot be told: it was not found
    within ``seconds``, lies before where a shallow clone begins, or git does not know the file."""
    ranges = [f"-L{first},{last}" for first, last in _ranges(numbers)]
    asked = ranges if len(ranges) <= _MOST_RANGES else []
    options = ["--incremental", "--root", "--no-textconv", *asked]
    said = _output(
        root, "-c", "blame.ignoreRevsFile=", "blame", *options, "--", path, seconds=seconds, partly=True
    )
    cut = _shallow(root)
    found: dict[int, str] = {}
    for line in said[: said.rfind(b"\n") + 1].decode("ascii", "replace").split("\n"):
        commit, _, rest = line.partition(" ")
        place = rest.split(" ")
        if len(commit) in _HASHES and len(place) == 3 and "".join(place).isdigit():
            known = "" if set(commit) == {"0"} else commit
            if known not in cut:
                found |= dict.fromkeys(range(int(place[1]), int(place[1]) + int(place[2])), known)
    wanted = set(numbers)
    return {number: commit for number, commit in found.items() if number in wanted}


def _ranges(numbers: list[int]) -> Iterator[tuple[int, int]]:
    """The numbers as runs, first and last."""
    first = last = 0
    for number in sorted(set(numbers)):
        if number != last + 1 or not first:
            if first:
                yield first, last
            first = number
        last = number
    if first:
        yield first, last


def _shallow(root: Path) -> frozenset[str]:
    """The commits at which a shallow clone begins: what they seem to bring may be older."""
    try:
        return frozenset((find_checkout(root).common_dir / "shallow").read_text("ascii").split())
    except (OSError, NotAProject):
        return frozenset()


class Entry(NamedTuple):
    """What a commit has at a path: ``kind`` is blob or tree, ``name`` its object's, in hex."""

    kind: str
    name: str


def entries(
    root: Path, places: Sequence[tuple[str, str]], seconds: float | None = None
) -> list[Entry | None]:
    """What each commit has at each path (from ``root``, one line); None where it has nothing, or a
    submodule."""
    asked = b"".join(_named(commit, path) + b"\n" for commit, path in places)
    said = _output(root, "cat-file", "--batch-check", given=asked, seconds=seconds).split(b"\n")
    found: list[Entry | None] = []
    for line in said[: len(places)]:
        name, _, rest = line.decode("ascii", "replace").partition(" ")
        kind = rest.partition(" ")[0]
        whole = len(name) in _HASHES and kind in ("blob", "tree") and not line.endswith(b" missing")
        found.append(Entry(kind, name) if whole else None)
    return found + [None] * (len(places) - len(found))


def contents(root: Path, names: Sequence[str]) -> Iterator[bytes]:
    """The bytes of each of these objects (hex), one after the other; none for one that is not there."""
    said = _output(root, "cat-file", "--batch", given="".join(f"{name}\n" for name in names).encode())
    at = 0
    for _ in names:
        end = said.find(b"\n", at)
        size = said[at:end].rpartition(b" ")[2] if end >= 0 else b""
        at = end + 1 if end >= 0 else len(said)
        if size.isdigit():
            yield said[at : at + int(size)]
            at += int(size) + 1
        else:
            yield b""


def digests(root: Path, paths: Sequence[str]) -> dict[str, str]:
    """The names (hex) that the files' contents would have in git, as they would be committed: with line
    ends and filters applied. A file that git cannot read is missing."""
    found: dict[str, str] = {}
    left = list(paths)
    for _ in range(_MOST_UNREADABLE):
        if not left:
            break
        given = b"".join(_quoted(path) + b"\n" for path in left)
        options = ("-c", "core.safecrlf=false", "hash-object", "--stdin-paths")
        said = _output(root, *options, given=given, partly=True).decode("ascii").split()
        found |= dict(zip(left, said, strict=False))
        left = left[len(said) + 1 :]
    return found


class Tracked(NamedTuple):
    """A path of the index: ``skipped`` where a sparse checkout leaves it out, ``mode`` in octal (160000 is
    a submodule), ``name`` of its object in hex."""

    path: str
    mode: str
    name: str
    skipped: bool


def tracked(root: Path, seconds: float | None = None) -> Iterator[Tracked]:
    """Every path of the index at or below ``root``, from there."""
    said = _output(root, "ls-files", "-t", "-s", "-z", seconds=seconds)
    for line in said.split(b"\0"):
        facts, _, path = line.decode("utf-8", "surrogateescape").partition("\t")
        if path:
            tag, mode, name, _ = facts.split(" ")
            yield Tracked(path, mode, name, tag == "S")


def converted(root: Path, paths: Sequence[str], seconds: float | None = None) -> set[str]:
    """Those of the paths that git stores otherwise than they stand in the working tree, line ends aside."""
    options = ("-z", "--stdin", "filter", "ident", "working-tree-encoding")
    given = b"".join(_bytes(path) + b"\0" for path in paths)
    said = _output(root, "check-attr", *options, given=given, seconds=seconds).split(b"\0")
    return {
        path.decode("utf-8", "surrogateescape")
        for path, value in zip(said[0::3], said[2::3], strict=False)
        if value not in (b"unspecified", b"unset")
    }


def not_in_history(root: Path, commits: Iterable[str], seconds: float | None = None) -> set[str]:
    """Those of the commits that the checked-out one does not descend from."""
    asked = sorted(set(commits))
    given = "".join(f"{commit}\n" for commit in asked).encode()
    there = (
        _output(root, "cat-file", "--batch-check", given=given, seconds=seconds).decode("ascii").split("\n")
    )
    known = {line.partition(" ")[0] for line in there if not line.endswith(" missing")}
    others = "".join(f"{commit}\n" for commit in [*sorted(known.intersection(asked)), "^HEAD"]).encode()
    beyond = _output(root, "rev-list", "--stdin", given=others, seconds=seconds).decode("ascii").split()
    return set(asked) - (known - set(beyond))


def _named(commit: str, path: str) -> bytes:
    # ./ is the folder git runs in, the root, wherever the repository begins
    return f"{commit}:./".encode() + _bytes(path)


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogatepass")


def _quoted(path: str) -> bytes:
    """As git reads a path in quotes; what begins with one must be."""
    if not path.startswith('"'):
        return _bytes(path)
    return b'"' + _bytes(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def _output(
    root: Path, *arguments: str, given: bytes = b"", seconds: float | None = None, partly: bool = False
) -> bytes:
    """What git says; nothing where it fails or takes longer than ``seconds``, unless what it has said until
    then will do (``partly``). Raises Unavailable where there is no git."""
    import subprocess

    try:
        done = subprocess.run(
            ["git", *arguments], cwd=root, input=given, capture_output=True, timeout=seconds
        )
    except FileNotFoundError:
        raise Unavailable("git cannot be run", "install it, or put it on PATH") from None
    except OSError as error:
        raise Unavailable(
            f"git cannot be run: {error.strerror}", "see that it is on PATH and may run"
        ) from None
    except subprocess.TimeoutExpired as late:
        return (late.stdout or b"") if partly else b""
    return done.stdout if partly or not done.returncode else b""
