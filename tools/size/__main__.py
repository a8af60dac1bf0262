"""Show what the house weighs, by area and package, and how far one warm check goes.

python -m tools.size                         the table
python -m tools.size --list complex          where the figures of a column of `shape` come from
python -m tools.size --at REVISION           the table of another revision
python -m tools.size --against REVISION      what changed since then
python -m tools.size --write                 write the table to its file, unless a figure rose
python -m tools.size --write --budget "WHY"  write it with what the rise buys
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Final

from tools.decisions.checkout import check_out
from tools.decisions.kept import NotKept
from tools.size.areas import AREAS, BOUNDED, DOUBLED, list_places, read_areas, tabulate
from tools.size.bounds import find_changes
from tools.size.source import KINDS
from tools.size.table import Sheet, parse, render, render_table
from tools.size.warm import ROOT, count_warm_checks

FILE: Final = Path(__file__).with_name("figures.txt")


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and show or write it; 1 where a figure rose without a budget, 2 for no revision."""
    parser = argparse.ArgumentParser(usage=__doc__)
    does = parser.add_mutually_exclusive_group()
    does.add_argument("--at", metavar="REVISION")
    does.add_argument("--against", metavar="REVISION")
    does.add_argument("--write", action="store_true")
    does.add_argument("--list", choices=(DOUBLED, *KINDS))
    parser.add_argument("--budget", metavar="WHY")
    options = parser.parse_args(argv)
    try:
        if options.list:
            print("\n".join(list_places(read_areas(ROOT, BOUNDED), options.list)))
        elif options.write:
            return write(measure(), FILE, options.budget)
        else:
            found = measure(options.at)
            before = measure(options.against) if options.against else found
            for table, was in zip(found.tables, before.tables, strict=True):
                if table.title != DOUBLED:  # hundreds of names, which `--list` shows with places
                    print(render_table(table, was), end="\n\n")
    except NotKept as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def measure(revision: str | None = None) -> Sheet:
    """Everything that is measured of this checkout, or by this tool of another revision."""
    with check_out(revision) if revision else nullcontext(ROOT) as tree:
        code, shape, doubled = tabulate(read_areas(tree, AREAS))
        return Sheet((code, shape, count_warm_checks(tree), doubled))


def write(found: Sheet, file: Path, why: str | None) -> int:
    """Write the table, unless a figure would rise and nobody says what that buys."""
    kept = parse(file.read_text("utf-8")) if file.exists() else found
    risen, _fallen = find_changes(kept, found)
    if risen and not why:
        print("\n".join(risen))
        print('these figures would rise: say what it buys by `--budget "WHY"`, or take it back')
        return 1
    bought = (f"{why}: {', '.join(risen)}",) if risen else ()
    file.write_text(render(Sheet(found.tables, kept.budgets + bought)), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
