"""Hook events to a weighted query: what is the agent working on?

Part of the hot ring. Nothing here knows the view: a term that says little (a user's name, the
name of the language) is recognised by being common there, not by a list.

A term weighs what the most telling place it stands in weighs, times a factor that grows from 1 to
1.5 with its repeats: ``n * 1.5 / (n + 0.5)``. What stands in a sentence about the work (a prompt, a
path, a pattern, a name given to a command) tells most, a changed line or an error more than the
lines around it. The ending of a file's name says which language, so it tells nothing.
"""

from __future__ import annotations

from valor.tokens import terms

SUBJECT = 2.0  # prompts, file names, patterns, names in commands
CHANGED = 1.5  # changed lines, errors
TEXT = 1.0  # all else that is read or printed

EVERY = 3  # tool calls from window to window
SPAN = 9  # tool calls a window looks back

MOST_CHARACTERS = 10_000  # of a whole window; the newest events are read first
LONGEST_TEXT = 4_000  # characters of one text: its beginning and its end
MOST_TERMS = 500
MOST_PATHS = 50  # of one listing
FEW = 6  # terms of a short prompt
_BEYOND = 3  # parts kept of a path outside the repository

_PATHS = ("file_path", "path", "notebook_path", "filePath", "absolute_path", "dir_path")
_SUBJECTS = ("pattern", "query", "prompt")
_TEXTS = ("content", "new_source", "text", "description", "stdout", "stderr", "llmContent")
_ERRORS = ("error",)
_NESTED = ("file", "edits")
_PATCHES = ("input", "patch")


class Query:
    """What to look for: ``weights`` by term; ``size`` their sum; ``short`` for a prompt of at most
    six terms, where each word was chosen."""

    __slots__ = ("short", "size", "weights")

    def __init__(self, weights: dict[str, float], short: bool = False) -> None:
        self.weights = weights
        self.size = sum(weights.values())
        self.short = short


def opens_window(call: int, transcript: bool) -> bool:
    """Whether the ``call``-th tool call of a session (1-based) is one to look at.

    Every third is, and finds those between in the transcript's tail; without a transcript what is not
    looked at now is lost, so each is.
    """
    return not transcript or call % EVERY == 0


def prompt_query(text: str) -> Query:
    """The query that a person's words make."""
    return window_query([{"hook_event_name": "UserPromptSubmit", "prompt": text}])


def window_query(events: list[dict[str, object]], root: str = "") -> Query:
    """The query of a window of hook events (parsed), oldest first.

    ``root`` is the folder of the checkout; without it each event's ``cwd`` stands in. Work is bounded
    by the limits above; values of unexpected shape are passed over.
    """
    reader = _Reader()
    for event in reversed(events):
        reader.read_event(event, root)
    prompts_only = all(event.get("hook_event_name") == "UserPromptSubmit" for event in events)
    weights = reader.weights()
    return Query(weights, prompts_only and len(weights) <= FEW)


class _Reader:
    """Counts terms and remembers the best weight of each."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._best: dict[str, float] = {}
        self._endings: set[str] = set()
        self._left = MOST_CHARACTERS
        self._root = "/"

    def weights(self) -> dict[str, float]:
        best, endings = self._best, self._endings
        return {t: best[t] * (n * 1.5 / (n + 0.5)) for t, n in self._counts.items() if t not in endings}

    def read_event(self, event: dict[str, object], root: str) -> None:
        folder = root or event.get("cwd")
        self._root = folder.replace("\\", "/").rstrip("/") + "/" if isinstance(folder, str) else "/"
        self._text(event.get("prompt"), SUBJECT)
        self._text(event.get("error"), CHANGED)
        asked = event.get("tool_input")
        got = event.get("tool_response")
        patched = isinstance(got, dict) and bool(got.get("structuredPatch"))
        if isinstance(asked, dict):
            self._read_input(asked, patched)
        elif isinstance(asked, str):
            self._patch(asked)
        if patched and isinstance(got, dict):
            self._hunks(got["structuredPatch"])
        else:
            self._read_output(got if got is not None else event.get("tool_output"))

    def _read_input(self, asked: dict[str, object], patched: bool) -> None:
        for key in _PATHS:
            self._path(asked.get(key), SUBJECT)
        for key in _SUBJECTS:
            self._text(asked.get(key), SUBJECT)
        self._command(asked.get("command"))
        if not patched:
            self._change(asked)
            edits = asked.get("edits")
            for edit in edits[:MOST_PATHS] if isinstance(edits, list) else ():
                if isinstance(edit, dict):
                    self._change(edit)
            for key in _PATCHES:
                self._patch(asked.get(key))
        for key in _TEXTS:
            self._text(asked.get(key), TEXT)

    def _read_output(self, got: object) -> None:
        if isinstance(got, str):
            self._lines(got)
        elif isinstance(got, list):
            for part in got[:MOST_PATHS]:
                self._read_output(part)
        elif isinstance(got, dict):
            names = got.get("filenames")
            for name in names[:MOST_PATHS] if isinstance(names, list) else ():
                self._path(name, TEXT)
            for key in _ERRORS:
                self._text(got.get(key), CHANGED)
            for key in _TEXTS:
                self._read_output(got.get(key))
            self._read_output(got.get("file"))

    def _add(self, found: list[str], weight: float) -> None:
        counts, best = self._counts, self._best
        for term in found:
            if term in counts:
                counts[term] += 1
                if weight > best[term]:
                    best[term] = weight
            elif len(counts) < MOST_TERMS:
                counts[term] = 1
                best[term] = weight

    def _text(self, value: object, weight: float) -> None:
        if not isinstance(value, str) or not value or self._left <= 0:
            return
        text = value.replace(self._root, "")
        if len(text) > LONGEST_TEXT:
            half = LONGEST_TEXT // 2
            text = text[:half] + "\n" + text[-half:]
        text = text[: self._left]
        self._left -= len(text)
        self._add(terms(text), weight)

    def _path(self, value: object, weight: float) -> None:
        """The file's name weighs ``weight``, its folders below the repository as much as text."""
        if not isinstance(value, str) or not value or self._left <= 0:
            return
        path = value[-1_000:].replace("\\", "/")
        if path.startswith(self._root):
            path = path[len(self._root) :]
        elif path + "/" == self._root:
            return
        elif path[0] in "/~" or path[1:2] == ":":
            path = "/".join(path.split("/")[-_BEYOND:])
        folders, _, name = path.rpartition("/")
        stem, _, ending = name.rpartition(".")
        if stem:
            self._endings.add(ending.casefold())
        self._left -= len(path)
        self._add(list(set(terms(name))), weight)
        if folders:
            self._add(terms(folders), TEXT)

    def _command(self, value: object) -> None:
        """Paths and names in a command tell most; the program and its options as much as text."""
        words = value if isinstance(value, list) else value.split() if isinstance(value, str) else []
        if isinstance(value, str) and "*** Begin Patch" in value:
            self._patch(value)
            return
        for word in words[:MOST_TERMS]:
            if not isinstance(word, str):
                continue
            plain = word.strip("\"'`,;()")
            if "/" in plain and plain[0] != "-":
                self._path(plain, SUBJECT)
            elif "_" in plain.strip("_") or plain[1:] != plain[1:].lower():
                self._text(plain, SUBJECT)
            else:
                self._text(plain, TEXT)

    def _change(self, edit: dict[str, object]) -> None:
        """The lines that an edit takes out or puts in, and those it leaves between them."""
        old, new = edit.get("old_string"), edit.get("new_string")
        before = old.split("\n") if isinstance(old, str) else []
        after = new.split("\n") if isinstance(new, str) else []
        stays = set(before) & set(after)
        self._text("\n".join([line for line in before + after if line not in stays]), CHANGED)
        self._text("\n".join([line for line in before if line in stays]), TEXT)

    def _patch(self, value: object) -> None:
        """A patch as text: lines that begin with + or - are changed, ``*** Update File:`` names one."""
        if not isinstance(value, str):
            return
        changed: list[str] = []
        rest: list[str] = []
        for line in value.split("\n"):
            if line.startswith(("*** ", "--- ", "+++ ")):
                self._path(line.split()[-1], SUBJECT)
            elif line[:1] in ("+", "-"):
                changed.append(line[1:])
            else:
                rest.append(line)
        self._text("\n".join(changed), CHANGED)
        self._text("\n".join(rest), TEXT)

    def _hunks(self, hunks: object) -> None:
        changed: list[str] = []
        around: list[str] = []
        for hunk in hunks if isinstance(hunks, list) else ():
            lines = hunk.get("lines") if isinstance(hunk, dict) else None
            for line in lines if isinstance(lines, list) else ():
                if isinstance(line, str):
                    (around if line[:1] == " " else changed).append(line[1:])
        self._text("\n".join(changed), CHANGED)
        self._text("\n".join(around), TEXT)

    def _lines(self, text: str) -> None:
        """Printed text; a search's ``path:12:line`` is told apart into file and line."""
        if text.count(":") < 2:
            self._text(text, TEXT)
            return
        plain: list[str] = []
        for line in text[:MOST_CHARACTERS].split("\n"):
            path, _, rest = line.partition(":")
            number, _, found = rest.partition(":")
            if path and number.isdigit() and " " not in path:
                self._path(path, TEXT)
                plain.append(found)
            else:
                plain.append(line)
        self._text("\n".join(plain), TEXT)
