"""The files of a checkout as they stand now: what is at a path, and which name git would give it."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from valor import git_batch
from valor.baseline import NAME, blob_name
from valor.git_batch import Tracked

FILE, LINK, FOLDER, GONE, OTHER = "file", "link", "folder", "gone", "other"
_SUBMODULE = "160000"
_MOST_BYTES = 4 << 20  # of a file in which lines are looked at
_EMPTY = (blob_name(b"", 20), blob_name(b"", 32))


class WorkingTree:
    """The checkout at ``root``, looked at once a path."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._home = os.path.realpath(root)
        self._kinds: dict[str, str] = {}
        self._inside: dict[str, bool] = {}
        self._raw: dict[str, bytes] = {}
        self._lines: dict[str, list[bytes] | None] = {}

    def kind(self, path: str) -> str:
        """file | link | folder | gone, or other: what cannot be told, or lies outside behind a link. A path
        that a sparse checkout leaves out is a file; what is below a submodule that is not there is other."""
        if path not in self._kinds:
            self._kinds[path] = self._look(path)
        return self._kinds[path]

    def _look(self, path: str) -> str:
        if not self._is_inside(path.rpartition("/")[0]):
            return OTHER
        try:
            mode = (self.root / path).lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return self._absent(path)
        except (OSError, ValueError):
            return OTHER
        kinds = {stat.S_IFREG: FILE, stat.S_IFLNK: LINK, stat.S_IFDIR: FOLDER}
        return kinds.get(stat.S_IFMT(mode), OTHER)

    def _absent(self, path: str) -> str:
        held = self._index.get(path)
        if held:
            return FILE if held.skipped else OTHER if held.mode == _SUBMODULE else GONE
        if path in self._skipped_folders:
            return FOLDER
        above = path
        while above := above.rpartition("/")[0]:
            if above in self._index and self._index[above].mode == _SUBMODULE:
                return OTHER
        return GONE

    def _is_inside(self, folder: str) -> bool:
        if folder not in self._inside:
            real = os.path.realpath(self.root / folder)
            self._inside[folder] = real == self._home or real.startswith(f"{self._home.rstrip('/')}/")
        return self._inside[folder]

    def raw_name(self, path: str) -> bytes:
        """The name of the blob with these very bytes; nothing where they cannot be read."""
        if path not in self._raw:
            self._raw[path] = self._read_name(path)
        return self._raw[path]

    def _read_name(self, path: str) -> bytes:
        where = self.root / path
        try:
            if self.kind(path) == LINK:
                return blob_name(os.fsencode(where.readlink()), self._sha)
            return blob_name(where.read_bytes(), self._sha)
        except OSError:
            held = self._index.get(path)
            return bytes.fromhex(held.name) if held and held.skipped else b""

    def names(self, paths: Iterable[str]) -> dict[str, bytes]:
        """The names of these files and links as git would commit them; without those it cannot read."""
        wanted = set(paths)
        here = {path for path in wanted if self.kind(path) == FILE and not self._is_skipped(path)}
        readable = sorted(path for path in here if os.access(self.root / path, os.R_OK))
        found = {path: self.raw_name(path) for path in wanted - here}
        found |= {path: bytes.fromhex(name) for path, name in git_batch.digests(self.root, readable).items()}
        return found

    def _is_skipped(self, path: str) -> bool:
        return not os.path.lexists(self.root / path)

    def lines(self, path: str) -> list[bytes] | None:
        """The file's lines; None where it is no file that can be read, or a very large one."""
        if path not in self._lines:
            where = self.root / path
            try:
                small = self.kind(path) == FILE and where.stat().st_size <= _MOST_BYTES
                self._lines[path] = where.read_bytes().splitlines() if small else None
            except OSError:
                self._lines[path] = None
        return self._lines[path]

    def elsewhere(self, path: str, name: bytes) -> str:
        """Another tracked path that has the content of this name (its first bytes) now; "" for none."""
        if any(name == each[:NAME] for each in _EMPTY):
            return ""
        return next(
            (
                each
                for each in self._by_name.get(name, ())
                if each != path and os.path.lexists(self.root / each)
            ),
            "",
        )

    @cached_property
    def _index(self) -> dict[str, Tracked]:
        return {each.path: each for each in git_batch.tracked(self.root)}

    @cached_property
    def _by_name(self) -> dict[bytes, list[str]]:
        found: dict[bytes, list[str]] = {}
        for each in self._index.values():
            found.setdefault(bytes.fromhex(each.name)[:NAME], []).append(each.path)
        return found

    @cached_property
    def _skipped_folders(self) -> set[str]:
        found = set()
        for each in self._index.values():
            above = each.path if each.skipped else ""
            while above := above.rpartition("/")[0]:
                found.add(above)
        return found

    @cached_property
    def _sha(self) -> int:
        return len(git_batch.head(self.root)) // 2 or 20
