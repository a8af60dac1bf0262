"""The place where cases are played: guards read the working directory, the home and the
environment, so these are the same wherever a checkout stands."""

from __future__ import annotations

import logging
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
"""The checkout that this tool belongs to."""

OURS: Final = ("STANCHION_", "VERONICA_", "XDG_")
"""How variables begin that say something to Stanchion."""


def folder() -> Path:
    """Where the place is: the same for every checkout on a machine."""
    return Path(tempfile.gettempdir()) / "stanchion-decisions"


@contextmanager
def settled() -> Iterator[None]:
    """Be there, and nobody in particular; afterwards everything is as it was."""
    work, home = folder() / "work", folder() / "home"
    for each in (work, home):
        each.mkdir(parents=True, exist_ok=True)
    kept, was, found = dict(os.environ), Path.cwd(), list(sys.path)
    sys.path[:] = [os.path.abspath(each) for each in sys.path]
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    for name in kept:
        if name.startswith(OURS):
            del os.environ[name]
    os.environ |= {"HOME": str(home), "USER": "ann", "STANCHION_STATE_DIR": str(home / "state")}
    logging.getLogger("stanchion").addHandler(QUIET)
    os.chdir(work)
    try:
        yield
    finally:
        os.chdir(was)
        os.environ.clear()
        os.environ |= kept
        sys.path[:] = found
        logging.getLogger("stanchion").removeHandler(QUIET)


QUIET: Final = logging.NullHandler()
"""What cases provoke is no news for whoever plays them."""
