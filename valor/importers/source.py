"""What is being imported, and in which format it is."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from valor import record
from valor.errors import Unavailable, UsageError
from valor.importers import jsonl, markdown_folder, mcp_graph
from valor.importers.entry import Entry

JSONL, MCP, MARKDOWN = "jsonl", "mcp-memory", "markdown"
FORMATS = (JSONL, MCP, MARKDOWN)


def read_path(path: Path, format_: str = "") -> Iterator[Entry]:
    """The entries of a file or folder; the format is guessed where none is given.

    Raises UsageError where the format cannot be guessed or does not fit, Unavailable where there
    is nothing to read.
    """
    if path.is_dir() or (path.suffix.lower() == ".md" and path.is_file()):
        if format_ not in ("", MARKDOWN):
            raise UsageError(f"{path} is no {format_} file", f"leave --from out, or say --from {MARKDOWN}")
        return markdown_folder.read(path)
    try:
        with path.open("rb") as file:
            lines = file.readlines()
            modified = path.stat().st_mtime
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}", "check its name and its mode") from None
    return read_lines(lines, format_, modified)


def read_lines(lines: Sequence[bytes], format_: str = "", modified: float | None = None) -> Iterator[Entry]:
    """The entries of these lines; ``modified`` (unix seconds, now by default) is when they were
    written. Raises UsageError as ``read_path`` does."""
    format_ = format_ or _guess(lines)
    if format_ == MARKDOWN:
        raise UsageError("Markdown memories come as files", "name their folder, or one file")
    if format_ == MCP:
        return mcp_graph.read(lines, time.time() if modified is None else modified)
    return jsonl.read(lines)


def _guess(lines: Sequence[bytes]) -> str:
    """The format of which every readable line is."""
    graph = objects = 0
    for raw in lines:
        try:
            graph += mcp_graph.is_part(record.parse(raw.strip()))
            objects += 1
        except record.BadLine:
            continue
    if graph and graph < objects:
        raise UsageError(
            f"{graph} of {objects} lines are of an MCP memory graph, the others are not",
            f"say which it is: --from {JSONL} or --from {MCP}",
        )
    if not objects and any(raw.strip() for raw in lines):
        raise UsageError("no line of it is a JSON object", f"say what it is: --from {', '.join(FORMATS)}")
    return MCP if graph else JSONL
