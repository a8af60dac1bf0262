"""Show that a change of the code changes no decision, or which ones.

Run from the repository root:

    python -m tools.decisions write FILE play everything, keep what is decided python -m
    tools.decisions compare FILE play it again, and name what is not as it was python -m
    tools.decisions compare --checkout REVISION the same against another revision, in one go
"""

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from stanchion_lab.measuring.rows import VARIABLE, NoRows
from tools.decisions import kept
from tools.decisions.checkout import played_at
from tools.decisions.comparing import compare, find_apart
from tools.decisions.drawing import SEED
from tools.decisions.gathering import CORPORA, DRAWN, SOURCES, Wanted, corpora, gathered
from tools.decisions.wording import word, word_apart


def main(argv: Sequence[str] | None = None) -> int:
    """Play, and write or compare. Gives 1 where callers get something else than before, or in one
    way something else than in another; 3 where only what is written down differs; 2 where nothing
    can be said."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.decisions", description=(__doc__ or "").split("\n")[0]
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb, told in (
        ("write", "play, and write what is decided"),
        ("compare", "play, and name what differs"),
    ):
        one = verbs.add_parser(verb, help=told)
        one.add_argument(
            "file", type=Path, nargs="?" if verb == "compare" else None, metavar="FILE"
        )
        one.add_argument(
            "--only",
            choices=SOURCES,
            action="append",
            help="play this source alone; may be repeated",
        )
        one.add_argument(
            "--part", type=_part, metavar="N/M", help="play the Nth of M parts of all cases"
        )
        one.add_argument(
            "--jobs", type=_count, default=os.cpu_count(), metavar="N", help="in so many processes"
        )
    verbs.choices["compare"].add_argument(
        "--checkout", metavar="REVISION", help="against the code of a revision of git"
    )
    verbs.choices["compare"].add_argument(
        "--level",
        type=int,
        choices=(1, 2),
        default=2,
        help="1: what is written down may differ, and is only shown",
    )
    options = parser.parse_args(argv)
    if options.verb == "compare" and (options.file is None) == (options.checkout is None):
        parser.error("name a FILE, or a revision by `--checkout`")
    try:
        return _write(options) if options.verb == "write" else _compare(options)
    except (kept.NotKept, NoRows) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def _write(options: argparse.Namespace) -> int:
    sources = (
        SOURCES
        if options.only is None
        else tuple([each for each in SOURCES if each in options.only])
    )
    if CORPORA in sources and corpora() is None:
        print(
            f"no folder of corpora is there: name one by {VARIABLE}; the rest is played",
            file=sys.stderr,
        )
    found = gathered(
        Wanted(sources, (1, 1) if options.part is None else options.part), options.jobs
    )
    kept.write(options.file, found)
    print(f"wrote {options.file}: {found.holds.words()}")
    apart = tuple(find_apart(found))
    for line in word_apart(apart):
        print(line)
    return 1 if apart else 0


def _compare(options: argparse.Namespace) -> int:
    if options.checkout is None:
        return _compared(kept.read(options.file), options)
    with tempfile.TemporaryDirectory(prefix="stanchion-decisions-") as folder:
        file = Path(folder) / "before.jsonl"
        part = (
            []
            if options.part is None
            else ["--part", "/".join([str(number) for number in options.part])]
        )
        only = [word for each in options.only or () for word in ("--only", each)]
        played_at(options.checkout, file, [*part, *only, "--jobs", str(options.jobs)])
        return _compared(kept.read(file), options)


def _compared(was: kept.Kept, options: argparse.Namespace) -> int:
    """Play what the file holds, or less of it where that is asked for."""
    holds = was.holds
    sources = tuple(
        [each for each in holds.sources if options.only is None or each in options.only]
    )
    if not sources:
        raise kept.NotKept(f"the file has nothing of that: it holds {holds.words()}")
    if CORPORA in sources and corpora() is None:
        raise kept.NotKept(
            f"the file has rows of corpora, and no folder of them is there: name it by {VARIABLE}"
        )
    if DRAWN in sources and holds.seed != SEED:
        raise kept.NotKept(
            f"its events were drawn from the seed `{holds.seed}`, and now from `{SEED}`: make it "
            f"anew"
        )
    part = holds.part if options.part is None else options.part
    if holds.part not in ((1, 1), part):
        raise kept.NotKept(
            f"the file is part {holds.part[0]}/{holds.part[1]} of all: leave `--part` away"
        )
    now = gathered(Wanted(sources, part), options.jobs)
    compared = compare(was, now, whole=sources == holds.sources and part == holds.part)
    for line in word(compared):
        print(line)
    return compared.status(options.level)


def _part(text: str) -> tuple[int, int]:
    number, _, of = text.partition("/")
    if not (number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise argparse.ArgumentTypeError(f"`{text}` is not a part: write 1/4 for the first of four")
    return int(number), int(of)


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"`{text}` is no number of processes: give 1 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
