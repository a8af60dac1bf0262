"""The process of a hook, run as `python -I -S client.py AGENT state=DIR [deadline=SECONDS]`.

A program is compiled each time it is started, and what it imports is not: so this is all of it.
"""

import posix
import sys

if __name__ == "__main__":
    sys.path.append(sys.argv[0].rpartition("/")[0])
    import carrier  # type: ignore[import-not-found]  # beside this file, without the package

    posix._exit(carrier.main(sys.argv[1:]))
