"""Loading `msgspec` for a command without what it does not need.

`msgspec` takes `get_type_hints`, `Required` and `NotRequired` from `typing_extensions` where that
is installed, and from `typing` where it is not. From Python 3.11 on they are the same there, and
`typing_extensions` costs a third of the whole import. A process that is a command of ours has
nobody else's imports to mind; a library never does this.
"""

from __future__ import annotations

import sys
from typing import Any

EXTENSIONS = "typing_extensions"


def load_msgspec() -> None:
    """Import `msgspec` as if `typing_extensions` was not installed; whoever imports that afterwards
    finds it."""
    modules: dict[str, Any] = sys.modules
    if "msgspec" in modules or EXTENSIONS in modules:
        return
    modules[EXTENSIONS] = None  # what makes its import fail
    try:
        import msgspec  # noqa: F401  # loaded here, used by everybody
    except ImportError:  # a version that cannot do without: the next import is an ordinary one
        for name in [name for name in modules if name.partition(".")[0] == "msgspec"]:
            del modules[name]
    finally:
        del modules[EXTENSIONS]
