"""Regular expressions that are compiled when they are first needed: most texts need none of them."""

from __future__ import annotations

import re
from functools import cache


@cache
def pattern(expression: str, flags: int = 0) -> re.Pattern[str]:
    """``expression`` compiled, once in the life of the process."""
    return re.compile(expression, flags)
