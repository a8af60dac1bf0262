"""Measure the table of faults anew, and write the page that shows it.

Run from the repository root: `python -m tools.faults [TEXT]`. With a text only faults whose names
hold it are measured; the others stay as they are kept.
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from tests.faults.table import found
from tests.faults.table.cells import Cell, Outcome
from tests.faults.table.measuring import CELLS, GROUPS, measured
from tools.docs import ROOT, write
from tools.pages import Page, faults as page


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, keep, and write the page."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.faults", description="Measure the table of faults."
    )
    parser.add_argument("text", nargs="?", default="", help="only faults whose names hold this")
    options = parser.parse_args(argv)
    wanted = [cell for cell in CELLS if options.text in cell.fault]
    known = found.kept() if found.FILE.exists() else {}
    with tempfile.TemporaryDirectory() as state:
        os.environ["STANCHION_STATE_DIR"] = state
        with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
            fresh = dict(zip(wanted, pool.map(measured, wanted, chunksize=20), strict=True))
    whole: dict[Cell, Outcome] = {
        cell: fresh[cell] if cell in fresh else known[cell] for cell in CELLS
    }
    changed = [cell for cell in CELLS if known.get(cell) != whole[cell]]
    found.keep(whole, {fault.name: group for group, faults in GROUPS.items() for fault in faults})
    print(f"measured {len(fresh)} cells, {len(changed)} are not as they were")
    for path in write([Page(page.PATH, page.render)], ROOT):
        print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
