"""`python -m tools.signs train|table --corpora DIR [--documents DIR …] [--genres]`: train the
model, or show what it finds of families that it was trained without."""

from __future__ import annotations

import argparse
import sys
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from stanchion.readings.hostile.likeness import FILE
from tools.signs.arrays import Shape, arrays
from tools.signs.chances import show
from tools.signs.fit import Training, fit, settings
from tools.signs.folds import Judged, Limits, alarms, counts, left_out, limits, lines
from tools.signs.texts import by_genre, checksum, texts

WEIGHTS: Final = Path(__file__).resolve().parents[2] / "src/stanchion/readings/hostile" / FILE


def training(shape: Shape, how: Training) -> str:
    """The checksum of the settings of a training."""
    return sha256(msgspec.json.encode((shape, how))).hexdigest()


def main() -> None:
    """Train or show."""
    parser = argparse.ArgumentParser(prog="python -m tools.signs", description=__doc__)
    parser.add_argument("verb", choices=("train", "table", "chance"))
    parser.add_argument("--corpora", type=Path, required=True, help="the folder of labelled rows")
    parser.add_argument(
        "--documents", type=Path, nargs="*", default=[], help="folders of honest documents"
    )
    parser.add_argument(
        "--genres", action="store_true", help="leave out all families of a genre together"
    )
    args = parser.parse_args()
    if args.genres and args.verb == "train":
        parser.error("`--genres` is for `table`")
    shape, how = Shape(), Training()
    some = texts(args.corpora, args.documents)
    _told(f"{len(some):,} texts")
    judged = left_out(by_genre(some) if args.genres else some, shape, how, _told)
    if args.verb == "chance":
        show(judged)
        return
    limit = limits(judged)
    _show(judged, limit)
    if args.verb == "train":
        data = arrays(some, shape)
        made = fit(data, np.array([float(one.attack) for one in some]), counts(some, how), how)
        made_of = settings(
            made, shape, limit.weak, limit.strong, training(shape, how), checksum(some)
        )
        WEIGHTS.write_bytes(msgspec.json.encode(made_of) + b"\n" + made.bytes)


def _show(judged: Judged, limit: Limits) -> None:
    found = lines(judged, limit)
    print("| left out | attacks | phrases | likeness alone | both |\n|---|---|---|---|---|")
    for line in found:
        print(
            f"| {line.family} | {line.attacks} | {line.phrases:.1%} | {line.likeness:.1%} | "
            f"{line.both:.1%} |"
        )
    means = [
        float(np.mean([getattr(line, name) for line in found]))
        for name in ("phrases", "likeness", "both")
    ]
    print(f"| **mean** | | {means[0]:.1%} | {means[1]:.1%} | {means[2]:.1%} |\n")
    print("| honest texts | number | flagged by phrases | and by likeness |\n|---|---|---|---|")
    honest = alarms(judged, limit)
    for family, (rows, told, more) in sorted(honest.items()):
        print(f"| {family} | {rows} | {told} | {more} |")
    totals = [sum([numbers[at] for numbers in honest.values()]) for at in range(3)]
    print(f"| **all** | {totals[0]} | {totals[1] / totals[0]:.2%} | {totals[2] / totals[0]:.2%} |")
    print(f"\nweak {limit.weak:.2f}, strong {limit.strong:.2f}")


def _told(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
