"""Hold what guards make of the development rows: what was judged rightly once must stay right.

`python -m tools.held` measures all rows and names what fell; `python -m tools.held shell pii` does
so for these measures. With `--hold` it writes the figures to `tools/held.jsonl`, unless one fell.
To give something up, delete its line there and hold again, so that the commit shows it.

The table has each figure of `stanchion lab measure` that has a better side, over all rows, and over
a sample where the whole takes too long for a test. Rows that were judged wrongly are kept as short
digests of their ids: one row that is lost is seen, though another one was won.
"""

import argparse
import os
import re
import sys
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from stanchion_lab.measuring import MEASURES
from stanchion_lab.measuring.eyes import UNREAD
from stanchion_lab.measuring.figure import Aim, Figure
from stanchion_lab.measuring.rows import VARIABLE

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "tools/held.jsonl"
CORPORA = Path(os.environ.get(VARIABLE, ROOT.parent / "shared/corpora"))
WHOLE = 1
SAMPLED = {
    "loops": WHOLE,
    "errors": WHOLE,
    "jsonschema": WHOLE,
    "sql": 20,
    "paths": 10,
    "shell": 10,
    "secrets": 40,
    "pii": WHOLE,
    "urls": 10,
    "injection": 40,
    "scope": WHOLE,
}
"""What a test has time for: which measures, on every so many rows. Others load several policies."""
DIGITS = 6
_ID = re.compile(r"[^\s:,(]+(?: \+ [^\s:,(]+)?")


class HeldFigure(msgspec.Struct, frozen=True, omit_defaults=True):
    """A figure as it was when it was held; `wrong` has the digests of the rows it has wrong."""

    every: int
    measure: str
    name: str
    hits: int
    of: int
    aim: Aim
    wrong: str = ""

    @property
    def errors(self) -> int:
        """How many rows it has wrong."""
        return self.hits if self.aim == "less" else self.of - self.hits


class Comparison(msgspec.Struct, frozen=True):
    """What is worse than it was held, what is not held yet, and the figures as they are now."""

    falls: tuple[str, ...]
    unheld: tuple[str, ...]
    table: tuple[HeldFigure, ...]


def measure_figures(measure: str, corpora: Path, every: int) -> list[Figure]:
    """Measure every so many rows of a folder; gives the figures that have a better side.

    The unread half of `eyes` is left out: who holds rows row by row knows them.
    """
    work = import_module(f"stanchion_lab.measuring.{measure}").measure
    if measure == "eyes":
        figures = work().figures
    else:
        with TemporaryDirectory() as folder:
            thin_rows(corpora, Path(folder), every)
            figures = work(Path(folder)).figures
    unread = f", half {UNREAD}:"
    return [one for one in figures if one.aim != "neither" and one.of and unread not in one.name]


def thin_rows(corpora: Path, folder: Path, every: int) -> None:
    """Write every so many rows of each file of a folder into another folder."""
    for file in corpora.glob("*.jsonl"):
        if every == WHOLE:
            (folder / file.name).symlink_to(file.resolve())
        else:
            lines = file.read_bytes().splitlines(keepends=True)
            (folder / file.name).write_bytes(b"".join(lines[::every]))


def compare_figures(
    held: Iterable[HeldFigure],
    every: int,
    measure: str,
    figures: Sequence[Figure],
) -> Comparison:
    """Compare the figures of a measure with those of the table."""
    before = {one.name: one for one in held if (one.every, one.measure) == (every, measure)}
    now = {figure.name: hold_figure(every, measure, figure) for figure in figures}
    gone = [one for one in before.values() if one.name not in now]
    falls = [f"{describe(one)}: no longer measured" for one in gone]
    unheld: list[str] = []
    for figure in figures:
        one = now[figure.name]
        if one.name in before:
            falls += find_falls(before[one.name], one, list_wrong(figure))
        else:
            unheld.append(f"{describe(one)}: not held yet, run `python -m tools.held --hold`")
    return Comparison(tuple(falls), tuple(unheld), tuple(now.values()))


def hold_figure(every: int, measure: str, figure: Figure) -> HeldFigure:
    """Put a figure into the form in which it is held."""
    wrong = "".join(sorted({digest_row(name) for name in list_wrong(figure)}))
    return HeldFigure(every, measure, figure.name, figure.hits, figure.of, figure.aim, wrong)


def find_falls(before: HeldFigure, now: HeldFigure, wrong: Sequence[str]) -> list[str]:
    """Say in words what of a figure is worse than it was held; `wrong` has its wrong rows."""
    falls = []
    if now.of < before.of:
        falls.append(f"{describe(now)}: measured on {now.of} rows, held on {before.of}")
    if now.aim != before.aim:
        falls.append(f"{describe(now)}: {now.aim} is better, held as {before.aim}")
    known = {before.wrong[at : at + DIGITS] for at in range(0, len(before.wrong), DIGITS)}
    turned = [name for name in wrong if digest_row(name) not in known]
    if now.errors > before.errors or turned:
        rows = f"; newly wrong: {', '.join(turned)}" if turned else ""
        falls.append(f"{describe(now)}: {now.errors} wrong, held at {before.errors}{rows}")
    return falls


def describe(one: HeldFigure) -> str:
    """Name a figure in a complaint."""
    part = "" if one.every == WHOLE else f", every {one.every}th row"
    return f"{one.measure}{part}, `{one.name}`"


def list_wrong(figure: Figure) -> list[str]:
    """List the ids of the rows that a figure has wrong, each once."""
    return list(dict.fromkeys([found[0] for line in figure.misses if (found := _ID.match(line))]))


def digest_row(name: str) -> str:
    """Make a short digest of a row's id."""
    return blake2b(name.encode(), digest_size=DIGITS // 2).hexdigest()


def read_table() -> list[HeldFigure]:
    """Read the table."""
    lines = TABLE.read_bytes().splitlines() if TABLE.is_file() else []
    return [msgspec.json.decode(line, type=HeldFigure) for line in lines]


def write_table(held: Iterable[HeldFigure]) -> None:
    """Write the table: the whole before the sample, by measure."""
    order = [*MEASURES]
    table = sorted(held, key=lambda one: (one.every, order.index(one.measure)))
    TABLE.write_bytes(b"".join([msgspec.json.encode(one) + b"\n" for one in table]))


def main(argv: Sequence[str] | None = None) -> int:
    """Compare, or hold; the exit status is 1 where something fell or is not held."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.held", description="Hold what guards make of the development rows."
    )
    parser.add_argument("measures", nargs="*", metavar="MEASURE", help="which (default: all)")
    parser.add_argument("--corpora", type=Path, default=CORPORA, help="the folder of rows")
    parser.add_argument("--hold", action="store_true", help="write what is no worse than before")
    asked = parser.parse_args(argv)
    if not asked.corpora.is_dir():
        parser.error(f"there is no folder `{asked.corpora}`: name one by `--corpora` or {VARIABLE}")
    for measure in asked.measures:
        if measure not in MEASURES:
            parser.error(f"nothing measures `{measure}`: there are {', '.join(MEASURES)}")
    held = read_table()
    falls: list[str] = []
    unheld: list[str] = []
    for measure in asked.measures if asked.measures else MEASURES:
        for every in sorted({WHOLE, SAMPLED.get(measure, WHOLE)}):
            figures = measure_figures(measure, asked.corpora, every)
            found = compare_figures(held, every, measure, figures)
            falls += found.falls
            unheld += found.unheld
            held = [one for one in held if (one.every, one.measure) != (every, measure)]
            held += found.table
    if asked.hold and not falls:
        write_table(held)
        return 0
    for line in (*falls, *unheld):
        print(line)
    return 1 if falls or unheld else 0


if __name__ == "__main__":
    sys.exit(main())
