"""The hook as a process: ``python -I -S …/valor/hook/__main__.py STATE``, an event on standard input.

Whatever goes wrong, it ends with 0 and prints nothing.
"""

import posix
import sys

try:
    # The package as it is here and nothing else of the folder around it: a search there costs, and
    # what it finds could stand before the standard library.
    valor = sys.modules["valor"] = type(sys)("valor")
    valor.__path__ = [__file__[: -len("/hook/__main__.py")]]
    from valor.hook import door

    door.run(sys.argv[1])
except BaseException:  # noqa: BLE001  (the boundary: a hook never harms the session)
    pass
# Ends here, with nothing taken apart: a fifth of a bare start.
posix._exit(0)
