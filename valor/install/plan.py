"""What init and uninstall would do to a checkout, decided before anything is written.

    to_install, to_uninstall -> Plan(changes, left)

A plan is made by reading alone; ``apply.carry_out`` writes it, ``diff.unified`` shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from valor.errors import Unavailable
from valor.install import blocks, hooks, settings
from valor.install.json_text import NotJson, check
from valor.install.target import is_executable, read
from valor.workspace import GRADES, LOG, TABLE

SETTINGS = ".claude/settings.json"
SERVERS = ".mcp.json"
ATTRIBUTES = ".gitattributes"
POINTED = ("CLAUDE.md", "AGENTS.md")
SCRIPTS = ".claude/scripts"
WRAPPERS = {  # the script, the command it runs, what for
    "memory-query.sh": ("memory-query", "Search the project's memory"),
    "memory-observe.sh": ("observe", "Write down what was learned"),
    "memory-route.sh": ("route", "Ask which store owns a fact"),
    "memory-consolidate.sh": ("consolidate", "Mark observations that say the same"),
    hooks.NAME: ("hook", "Hand an event of the harness to recall"),
}
OWN_TEXTS = (hooks.NAME,)  # it runs at every tool call, where the search for valor would cost too much
# Reading and asking; what writes stays a question to the person. In alphabetical order, so that
# whoever sorts the list keeps them together.
ALLOWED = (f"Bash({SCRIPTS}/memory-query.sh:*)", f"Bash({SCRIPTS}/memory-route.sh:*)")
SERVER = {"valor": {"command": "valor", "args": ["mcp"], "alwaysLoad": True}}
CLAUDE = "claude"
HARNESSES = tuple(hooks.HARNESSES)
# What goes into someone's JSON files, for each harness: file, keys from the root, entries.
ENTRIES: dict[str, list[tuple[str, tuple[str, ...], settings.Entries]]] = {
    name: hooks.entries(name) for name in HARNESSES
}
ENTRIES[CLAUDE] += [
    (SETTINGS, ("permissions", "allow"), ALLOWED),
    (SERVERS, ("mcpServers",), SERVER),
]
VERSIONED = hooks.HARNESSES["cursor"].path

TEMPLATES = Path(__file__).parents[1] / "templates"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One file (``path`` from the root, ``/`` between names): its bytes before and after, None for no
    file, and whether it is to be executable."""

    path: str
    before: bytes | None
    after: bytes | None
    executable: bool = False

    @property
    def action(self) -> str:
        """created, updated or removed."""
        return "created" if self.before is None else "removed" if self.after is None else "updated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A file that stays as it is, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes to make, and the files that stay though they are not as init writes them."""

    changes: list[Change] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    def put(self, path: str, before: bytes | None, after: bytes | None, executable: bool = False) -> None:
        """Note the change, if it is one."""
        if before != after:
            self.changes.append(Change(path=path, before=before, after=after, executable=executable))

    def leave(self, path: str, reason: str) -> None:
        """Note a file that stays."""
        self.left.append(Left(path=path, reason=reason))


def to_install(root: Path, harnesses: Sequence[str] = (CLAUDE,)) -> Plan:
    """What init would do to the checkout at ``root``, with the files of these harnesses.

    Raises Unavailable where a file to be written is a link, a folder or unreadable, and where the
    settings are no JSON.
    """
    plan = Plan()
    for path, content, executable in _whole_files():
        before = read(root, path)
        if before is not None and before != content:
            plan.leave(path, "differs from what init writes; to have that, move it away and run init again")
        elif before is None or (executable and not is_executable(root, path)):
            plan.changes.append(Change(path=path, before=before, after=content, executable=executable))
    for path, entries in _edited(harnesses).items():
        with _settings(root, path) as text:
            plan.put(path, _bytes(text), _bytes(with_entries(plan, path, text, entries)))
    attributes = read(root, ATTRIBUTES)
    plan.put(ATTRIBUTES, attributes, blocks.with_union(attributes, (LOG, GRADES)))
    block = _template("pointer.md").strip()
    _plan_pointers(plan, root, lambda content: blocks.with_pointer(content, block))
    # Last, so that no later failure takes it back: an observe may be waiting to append to it.
    if not (root / LOG).is_file():
        plan.put(LOG, read(root, LOG), b"")
    return plan


def to_uninstall(root: Path) -> Plan:
    """What uninstall would do: the inverse of ``to_install``, but for the log and for files of init's
    that were edited since. Raises Unavailable as ``to_install`` does."""
    plan = Plan()
    for path, content, executable in _whole_files():
        try:
            before = read(root, path)
        except Unavailable as error:
            plan.leave(path, error.message)
            continue
        if before == content:
            plan.put(path, before, None, executable)
        elif before is not None:
            plan.leave(path, "differs from what init writes; remove it by hand if it is not yours")
    installed = bool(plan.changes or plan.left)
    for path, entries in _edited(HARNESSES).items():
        if path not in (SETTINGS, SERVERS) and not _names_the_hook(root, path):
            continue  # a harness that was never asked for: what is wrong in its file is no matter of ours
        with _settings(root, path) as text:
            if text is not None and installed:  # not installed: the entries are the user's own
                plan.put(path, _bytes(text), _bytes(without_entries(plan, path, text, entries)))
    attributes = read(root, ATTRIBUTES)
    if attributes is not None:
        plan.put(ATTRIBUTES, attributes, blocks.without_union(attributes, (LOG, GRADES)))
    _plan_pointers(plan, root, blocks.without_pointer)
    return plan


def _whole_files() -> Iterator[tuple[str, bytes, bool]]:
    """The files that are init's alone: path, content, executable."""
    yield TABLE, _template("memory-reference.md"), False
    for name in WRAPPERS:
        yield f"{SCRIPTS}/{name}", wrapper(name), True


def wrapper(name: str) -> bytes:
    """The wrapper script of this name, as init writes it."""
    command, purpose = WRAPPERS[name]
    if name in OWN_TEXTS:
        return _template(name)
    text = _template("wrapper.sh")
    return text.replace(b"@COMMAND@", command.encode()).replace(b"@PURPOSE@", purpose.encode())


def _template(name: str) -> bytes:
    try:
        return (TEMPLATES / name).read_bytes()
    except OSError as error:
        raise Unavailable(
            f"{TEMPLATES / name} cannot be read: {error.strerror}", "install valor-memory again"
        ) from None


_Entries = list[tuple[tuple[str, ...], settings.Entries]]


def _edited(harnesses: Sequence[str]) -> dict[str, _Entries]:
    """The JSON files that get entries, and those."""
    found: dict[str, _Entries] = {}
    for name in harnesses:
        for path, keys, values in ENTRIES[name]:
            found.setdefault(path, []).append((keys, values))
    return found


def with_entries(plan: Plan, path: str, text: str | None, entries: _Entries) -> str | None:
    """``text`` (None: no file) with the entries; those that are there in another form are left to their
    owner, and the plan says so. Raises NotJson."""
    after, rivals = text, []
    for keys, values in entries:
        if names := _rivals(after, keys, values):
            rivals += names
        else:
            after = settings.add(after, keys, values)
    if rivals:
        plan.leave(path, f"{_listed(rivals)} differs from what init writes")
    if path == VERSIONED and after is not None and after != text:
        after = hooks.with_version(text, after)
        if "version" not in check(after):
            plan.leave(path, 'it has no "version": 1, without which Cursor reads none of it')
    return after


def without_entries(plan: Plan, path: str, text: str, entries: _Entries) -> str | None:
    """The inverse of ``with_entries``; None where the file was made for them. Raises NotJson."""
    after: str | None = text
    rivals = [name for keys, values in entries for name in _rivals(text, keys, values)]
    if rivals:
        plan.leave(path, f"{_listed(rivals)} differs from what init writes; remove it by hand")
    for keys, values in entries:
        if after is None:
            break
        count = settings.held(after, keys, values)
        if 0 < count < len(values):
            plan.leave(path, f"{'.'.join(keys)}: {count} of init's {len(values)} entries stay")
        after = settings.remove(after, keys, values)
    return hooks.without_version(text, after) if path == VERSIONED else after


def _rivals(text: str | None, keys: tuple[str, ...], values: settings.Entries) -> list[str]:
    """What is there in another form than init's, by its keys."""
    if isinstance(values, Mapping):
        return [".".join((*keys, name)) for name in settings.rivals(text, keys, values)]
    if keys[0] != "hooks" or not hooks.wired_otherwise(text, keys, values):
        return []
    return [".".join(keys)]


def _names_the_hook(root: Path, path: str) -> bool:
    try:
        return hooks.NAME.encode() in (read(root, path) or b"")
    except Unavailable:
        return False


def _listed(names: Sequence[str]) -> str:
    return " and ".join(names)


@contextmanager
def _settings(root: Path, name: str) -> Iterator[str | None]:
    """The text of the file (None: there is none); in the block, what is wrong with it becomes
    Unavailable with its line."""
    path, content = root / name, read(root, name)
    try:
        text = content if content is None else content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise _unusable(path, line, "not UTF-8") from None
    try:
        yield text
    except NotJson as error:
        raise _unusable(path, error.line, error.reason) from None


def _unusable(path: Path, line: int, reason: str) -> Unavailable:
    return Unavailable(
        f"{path}, line {line}: {reason}", "nothing was changed anywhere; mend that line and run this again"
    )


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode("utf-8")


def _plan_pointers(plan: Plan, root: Path, edit: Callable[[bytes], bytes]) -> None:
    for name in POINTED:
        if _links_to_another(root, name):
            continue
        content = read(root, name)
        if content is None:
            continue
        if b"\0" in content:
            plan.leave(name, "not a text in UTF-8")
            continue
        try:
            plan.put(name, content, edit(content))
        except blocks.Unfinished as error:
            plan.leave(name, f"line {error.line} opens a valor block that nothing closes")


def _links_to_another(root: Path, name: str) -> bool:
    """Whether this is a link to another of the pointed files, which then holds the block for both."""
    others = [root / other for other in POINTED if other != name]
    return (root / name).is_symlink() and any(
        other.is_file() and not other.is_symlink() and (root / name).resolve() == other.resolve()
        for other in others
    )
