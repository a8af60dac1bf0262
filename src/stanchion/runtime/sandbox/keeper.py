"""The keeper: a small process that starts commands behind walls. This file is the script that it
is; for a contained run, it starts one command and passes on how it ends.

It has one thread: so it can fork whenever it is asked to, which a process with threads cannot. It
loads the files of `keeping` and nothing else of Stanchion, so that there is little to copy when it
forks.
"""

from __future__ import annotations

import os
import sys

PACKAGES = ("stanchion", "stanchion.runtime", "stanchion.runtime.sandbox")


def main() -> None:
    """Be the keeper of the process that has started this one."""
    folder = os.path.dirname(os.path.abspath(__file__))
    for name in reversed(PACKAGES):
        # A package of which only the folder is known: what the real one loads is not needed here.
        sys.modules[name] = package = type(sys)(name)
        package.__path__ = [folder]
        folder = os.path.dirname(folder)
    from stanchion.runtime.sandbox.keeping import contain, keep

    start = contain.start if sys.argv[3:] == ["contain"] else keep.start
    start(int(sys.argv[1]), sys.argv[2])


if __name__ == "__main__":
    main()
