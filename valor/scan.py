"""JSON in and out with the interpreter's own scanner; ``import json`` costs more than a bare start.

Part of the hot ring. ``_json`` is what CPython's ``json`` runs on; where it is absent, ``json`` itself
answers. Where an error is found inside a text that began well, the
scanner may raise ``json``'s exception or, where nobody has imported that, none at all.
"""

from __future__ import annotations

TYPE_CHECKING = False  # typing costs half an interpreter start
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BLANKS = " \t\n\r"
_CONSTANTS = {"-Infinity": float("-inf"), "Infinity": float("inf"), "NaN": float("nan")}


class _Defaults:
    """The settings of ``json.loads`` as the scanner asks for them."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = _CONSTANTS.__getitem__


_scan: Callable[[str, int], tuple[Any, int]]
_quote: Callable[[str], str]
try:
    from _json import encode_basestring_ascii as _quote
    from _json import make_scanner

    _settings: Any = _Defaults
    _scan = make_scanner(_settings)
except ImportError:  # not CPython
    from json import JSONDecoder
    from json.encoder import encode_basestring_ascii as _quote

    _decoder: Any = JSONDecoder()
    _scan = _decoder.scan_once


def loads(text: str) -> object:
    """What ``json.loads(text)`` returns. Raises ValueError for all that is no JSON, also where it nests
    too deep to be read."""
    text = text.strip(_BLANKS)
    try:
        value, end = _scan(text, 0)
    except StopIteration:
        raise ValueError("no JSON value") from None
    except RecursionError:
        raise ValueError("nested too deep") from None
    except SystemError:  # what CPython's scanner makes of an error while ``json`` was not imported
        raise ValueError("no JSON value") from None
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value


def parsed(value: object) -> object:
    """What a text holds that holds JSON; anything else as it is."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return loads(value)
        except ValueError:  # text that begins like JSON
            return value
    return value


def quote(text: str) -> str:
    """``text`` as a JSON string, quotes included, in ASCII."""
    return _quote(text)
