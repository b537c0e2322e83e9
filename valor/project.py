"""The key under which the checkouts of one project share a mirror.

It comes from the ``origin`` URL, in whichever form that is written, so that clones and linked
worktrees agree; without one from the git common directory, which worktrees share. Both are read from
git's own files. A remote that is a path on this machine leads on to the repository there, so a clone
of a clone agrees with both.

Of git's configuration the repository's ``config`` is read, with plain ``include.path``; not
``includeIf``, and not the user's: ``url.<base>.insteadOf`` and ssh's host aliases are not applied.
"""

from __future__ import annotations

import os
from hashlib import sha1
from pathlib import Path

from valor import git
from valor.address import decoded
from valor.errors import NotAProject
from valor.gitconfig import values

_DEFAULT_PORTS = {"http": "80", "https": "443", "ssh": "22", "git+ssh": "22", "git": "9418", "ftp": "21"}
_HOPS = 8  # local remotes followed
_READABLE = 24  # characters of the name in a key


def project_key(root: Path) -> str:
    """The key of the checkout at ``root``: its name, for people, and 12 hex digits, e.g.
    ``api-3f9a1c2b7d04``. A folder without git (PROJECT_ROOT) has its path for an identity."""
    try:
        checkout = git.find_checkout(root)
    except NotAProject:
        return _key(_here(root), root.name)
    if checkout.root != root:
        return _key(_here(root), root.name)
    return _of_common_dir(checkout.common_dir, _HOPS)


def view_id(root: Path) -> str:
    """What tells the view of the checkout at ``root`` from those of the project's others: 16 hex digits."""
    return sha1(_here(root).encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()[:16]


def normalised(url: str) -> str:
    """A remote's URL without what does not tell repositories apart: scheme, credentials, case of the
    host, default port, ``.git``, slashes at the end. "" where it is a path on this machine.

    ``https://me@Host/o/r.git``, ``ssh://git@host:22/o/r`` and ``git@host:o/r`` all give ``host/o/r``.
    The user stays where it chooses the repository: ``me@host:r`` and ``ssh://me@host/~/r`` lie in a
    home folder and give ``host/~me/r``.
    """
    url = url.strip()
    scheme, mark, rest = url.partition("://")
    scheme = scheme.lower()
    if mark and "/" not in scheme:
        if scheme == "file":
            return ""
        authority, _, path = rest.partition("/")
        path, scp = decoded(path), False
    else:
        # git-clone(1): host:path, brackets round an IPv6 host or a host with its port
        authority, colon, path = url.partition("]:" if "[" in url.partition(":")[0] else ":")
        if not colon or "/" in authority or len(authority) == 1:
            return ""  # a path, perhaps with a colon or a drive's letter in it
        scheme, scp = "ssh", True
    login, _, place = authority.replace("[", "").replace("]", "").rpartition("@")
    user = decoded(login.partition(":")[0])
    host = place.lower().removesuffix(f":{_DEFAULT_PORTS.get(scheme)}").rstrip(".:")
    in_home = scp and not path.startswith("/") and user not in ("", "git")
    path = _trimmed(path)
    if in_home and "/" not in path:
        path = f"~/{path}"
    if path.startswith("~/") and user:
        path = f"~{user}/{path[2:]}"
    return f"{host}/{path}"


def _of_common_dir(folder: Path, hops: int) -> str:
    # Relative paths in it are relative to the main working tree.
    base = folder.parent if folder.name == ".git" else folder
    urls = values(folder / "config", "remote", "origin", "url")
    if not urls:
        return _key(_here(folder), base.name)
    remote = normalised(urls[0])
    if remote:
        return _key(remote, remote.rpartition("/")[2])
    path = urls[0].strip().replace("\0", "")
    if path.lower().startswith("file://"):
        path = decoded("/" + path[7:].partition("/")[2])
    return _of_path(base / path, hops)


def _of_path(path: Path, hops: int) -> str:
    """The key of the repository at a path on this machine."""
    for folder in (path / ".git", path, Path(f"{path}.git")):
        if hops and _is_file(folder / "HEAD"):
            return _of_common_dir(folder.resolve(), hops - 1)
        if hops and _is_file(folder):  # a linked worktree or a submodule
            return _of_common_dir(git.find_checkout(path.resolve()).common_dir, hops - 1)
    return _key(_here(path), _trimmed(path.name))


def _here(path: Path) -> str:
    """A path's identity: on another machine with the same server the same path is something else."""
    try:
        machine = Path("/etc/machine-id").read_text("ascii").strip()
    except (OSError, UnicodeDecodeError):
        machine = ""
    return f"{machine}:{os.path.realpath(path)}"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a URL that is too long for a path
        return False


def _trimmed(path: str) -> str:
    """Without empty parts and ``.git``."""
    return "/".join(filter(None, path.split("/"))).removesuffix(".git").rstrip("/")


def _key(identity: str, name: str) -> str:
    """Letters, digits and dashes only: a brace in it would move keys to another slot of a cluster."""
    plain = "".join(char if char.isascii() and char.isalnum() else "-" for char in name.lower())
    short = "-".join(filter(None, plain[:_READABLE].split("-"))) or "project"
    digest = sha1(identity.encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()[:12]
    return f"{short}-{digest}"
