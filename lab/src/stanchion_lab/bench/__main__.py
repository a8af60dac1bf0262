"""`python -m stanchion_lab.bench`: measure, print a table, and write the same as JSON where
asked."""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

import msgspec

from stanchion_lab.bench.sections import sections, titles
from stanchion_lab.bench.table import Effort, Section, show


def main(argv: list[str] | None = None) -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        prog="python -m stanchion_lab.bench",
        description="What a decision costs, beside the same checks written by hand, in one run. "
        "Trust the ratios: "
        "machines are noisy.",
    )
    parser.add_argument("--json", metavar="FILE", help="write the figures to FILE as JSON")
    parser.add_argument(
        "--quick", action="store_true", help="a tenth of the calls: to see that it works"
    )
    parser.add_argument(
        "--only", metavar="WORD", default="", help="only sections that have this in their titles"
    )
    asked = parser.parse_args(argv)
    if not titles(asked.only):
        parser.error(
            f"no section has `{asked.only}` in its title: the titles are {', '.join(titles())}"
        )
    effort = Effort(4, 100, 20_000) if asked.quick else Effort(20, 400, 1_000_000)
    print(
        f"stanchion bench on Python {platform.python_version()}, {platform.machine()}; µs for each "
        f"call"
    )
    done: list[Section] = []
    for section in sections(effort, asked.only):
        done.append(section)
        show(section)
    if asked.json:
        Path(asked.json).write_bytes(msgspec.json.format(msgspec.json.encode(done)))
        print(f"\nwritten to {asked.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
