"""The entry point of the ``valor`` command."""

from __future__ import annotations

import _signal  # what ``signal`` is made of, without the enum that takes long enough to be interrupted
import gc
import os
import sys

_INTERRUPTED = 130


def run() -> None:
    """Run the command and end the process with its exit code.

    A command is short and what it makes holds no cycles: collecting would only walk it all again,
    at the imports most of all, so it is off before these begin; and at the end nothing is freed
    piece by piece that the process's end frees at once.
    """
    gc.disable()
    # Ctrl-C during the imports: an exception in the middle of one leaves half a module, or worse.
    _signal.signal(_signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    # A line may nest as deep as its parser allows (1,024); what walks one takes a few frames a level.
    sys.setrecursionlimit(10_000)
    from valor.cli.main import run

    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    os._exit(run())
