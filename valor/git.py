"""The one module that knows git.

Finding the checkout reads git's own files (gitrepository-layout(5)), since every command does it
and a ``git`` process costs more than the rest of the command; what asks for history goes through
GitPython, imported there. ``valor.git_batch`` asks it about many lines and files at once.
"""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from valor.errors import NotAProject, Unavailable, UsageError
from valor.suggest import did_you_mean

if TYPE_CHECKING:
    import git

_HASHES = (40, 64)  # hex digits of a commit: SHA-1, SHA-256
_MOST_RANGES = 500  # -L options of one call; for more lines the whole file is blamed


class Checkout:
    """One working tree: its root, its git directory, and the directory shared with its siblings
    (linked worktrees have one in common)."""

    __slots__ = ("common_dir", "git_dir", "root")

    def __init__(self, root: Path, git_dir: Path, common_dir: Path) -> None:
        self.root = root
        self.git_dir = git_dir
        self.common_dir = common_dir


def find_checkout(start: Path) -> Checkout:
    """The checkout that ``start`` (absolute) lies in: a repository, a linked worktree or a
    submodule, whichever is nearest. Raises NotAProject."""
    for folder in (start, *start.parents):
        entry = folder / ".git"
        git_dir: Path | None = None
        if entry.is_file():
            git_dir = _pointed_at(entry)
        elif (entry / "HEAD").exists():
            git_dir = entry
        if git_dir is not None:
            return Checkout(folder, git_dir, _common_dir(git_dir))
    inside = sorted(child.parent.name for child in start.glob("*/.git"))[:5]
    if inside:
        raise NotAProject(
            f"{start} is not in a git repository, but holds several: {', '.join(inside)}"
            if len(inside) > 1
            else f"{start} is not in a git repository, but holds one: {inside[0]}",
            f"run this inside one of them, e.g. cd {inside[0]}, or set PROJECT_ROOT",
        )
    raise NotAProject(f"{start} is not in a git repository", "run `git init` first, or set PROJECT_ROOT")


def _pointed_at(entry: Path) -> Path | None:
    """Where a ``.git`` file (worktree, submodule) points; None where it points nowhere."""
    try:
        word, _, target = entry.read_text("utf-8", "surrogateescape").partition(":")
    except OSError as error:
        raise Unavailable(f"{entry} cannot be read: {error.strerror}", "check its mode") from None
    if word != "gitdir":
        return None
    git_dir = (entry.parent / target.strip()).resolve()
    return git_dir if git_dir.is_dir() else None


def _common_dir(git_dir: Path) -> Path:
    pointer = git_dir / "commondir"
    if not pointer.is_file():
        return git_dir
    return (git_dir / pointer.read_text("utf-8", "surrogateescape").strip()).resolve()


def forget_repository_variables(environment: MutableMapping[str, str]) -> None:
    """Drop the variables by which git tells its hooks which repository they run in.

    Inside a hook they would turn every later ``git`` call to that repository, wherever it runs.
    """
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"):
        environment.pop(name, None)


def ignored(root: Path, paths: Sequence[str]) -> list[str]:
    """Those of the paths (from ``root``) that git would not commit; none where git cannot say."""
    import subprocess

    try:
        done = subprocess.run(
            ["git", "check-ignore", "-z", "--stdin"],
            input="\0".join(paths).encode(),
            cwd=root,
            capture_output=True,
            timeout=5,
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [path.decode(errors="replace") for path in done.stdout.split(b"\0") if path]


def last_commit(root: Path) -> float | None:
    """When the commit that is checked out was made, in unix seconds; None where git cannot say."""
    import subprocess

    try:
        done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=root, capture_output=True, timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = done.stdout.strip()
    return float(said) if said.isdigit() else None


def show(root: Path, revision: str, path: str) -> bytes | None:
    """The file at ``path`` (relative to root, ``/`` between names) as ``revision`` has it; None
    where it has none. Raises UsageError for a revision that does not exist."""
    import git

    repository = _repository(root)
    if repository is None:
        raise Unavailable(f"{root} is no git repository", "compare inside one, or leave --against out")
    verify = ["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    try:
        commit = repository.git.execute(verify)
    except git.GitCommandError:
        near = did_you_mean(revision, [reference.name for reference in repository.references])
        raise UsageError(
            f"there is no commit {revision!r} here",
            near or "name a branch, tag or commit; in CI fetch it first (fetch-depth: 0)",
        ) from None
    name = f"{commit}:./{path}"  # ./ is the folder git runs in, the root, wherever the repository begins
    try:
        content = repository.git.execute(
            ["git", "cat-file", "blob", name], stdout_as_string=False, strip_newline_in_stdout=False
        )
    except git.GitCommandError:
        return None
    assert isinstance(content, bytes)
    return content


def _repository(root: Path) -> git.Repo | None:
    """The repository that ``root`` lies in, its commands run in ``root``; None where there is none."""
    import git

    try:
        repository = git.Repo(root, search_parent_directories=True)
    except (git.InvalidGitRepositoryError, git.NoSuchPathError):
        return None
    repository.git = git.Git(root)
    return repository


class Blame:
    """Who brought a line: commit (40 hex; "" while it is not committed), author, unix seconds and
    the commit's first line."""

    __slots__ = ("author", "commit", "seconds", "subject")

    def __init__(self, commit: str, author: str, seconds: int, subject: str) -> None:
        self.commit = commit
        self.author = author
        self.seconds = seconds
        self.subject = subject


def blame(root: Path, path: str, numbers: list[int]) -> dict[int, Blame]:
    """Who brought each of these lines (1-based) of the file as it stands in the working tree.

    Lines that no commit holds are missing. Raises Unavailable where git cannot tell.
    """
    import git

    repository = _repository(root)
    if repository is None:
        return {}  # PROJECT_ROOT may name a plain folder
    ranges = [option for number in numbers for option in ("-L", f"{number},{number}")]
    command = ["git", "blame", "--porcelain"]
    try:
        porcelain = repository.git.execute(
            [*command, *(ranges if len(numbers) <= _MOST_RANGES else ()), "--", path]
        )
    except git.GitCommandError as error:
        if "no such path" in str(error.stderr) or "no such ref" in str(error.stderr):
            return {}  # a file that git does not know yet has no history
        raise Unavailable(f"git cannot blame {path}", str(error.stderr).strip()) from None
    assert isinstance(porcelain, str)
    return _read_porcelain(porcelain)


def _read_porcelain(porcelain: str) -> dict[int, Blame]:
    """git-blame(1), "The porcelain format": a commit's facts stand at its first line alone."""
    found: dict[int, Blame] = {}
    commits: dict[str, dict[str, str]] = {}
    commit, number = "", 0
    for line in porcelain.split("\n"):
        if line.startswith("\t"):
            facts = commits[commit]
            sha = "" if set(commit) == {"0"} else commit
            when = int(facts.get("author-time", "0"))
            found[number] = Blame(sha, facts.get("author", ""), when, facts.get("summary", ""))
            continue
        word, _, rest = line.partition(" ")
        if len(word) in _HASHES and rest.split(" ")[0].isdigit():
            commit, number = word, int(rest.split(" ")[1])
            commits.setdefault(commit, {})
        elif commit:
            commits[commit].setdefault(word, rest)
    return found
