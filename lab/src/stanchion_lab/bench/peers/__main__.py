"""`python -m stanchion_lab.bench.peers`: others' libraries and Stanchion on the same calls, in one
sitting."""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

import msgspec

from stanchion_lab.bench.peers.sitting import sitting
from stanchion_lab.bench.table import Effort, show


def main(argv: list[str] | None = None) -> int:
    """Install what is missing, and measure."""
    parser = argparse.ArgumentParser(
        prog="python -m stanchion_lab.bench.peers",
        description=(
            "The same calls through others' libraries, each in an environment of its own. "
            "Trust the ratios."
        ),
    )
    parser.add_argument(
        "--folder", metavar="DIR", default="build/peers", help="where environments are kept"
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE as JSON")
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the sessions: to see that it works"
    )
    asked = parser.parse_args(argv)
    print(
        f"stanchion bench on Python {platform.python_version()}, {platform.machine()}; µs for each "
        f"call"
    )
    section = sitting(Effort(4, 100, 0) if asked.quick else Effort(20, 400, 0), Path(asked.folder))
    show(section)
    if asked.json:
        Path(asked.json).write_bytes(msgspec.json.format(msgspec.json.encode(section)))
        print(f"\nwritten to {asked.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
