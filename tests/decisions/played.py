"""Plays the written sessions by every way, for whoever compares two copies of the code by what is
seen: `python -m tests.decisions.played` prints a line for each part of each."""

from __future__ import annotations

import itertools
import tempfile
from hashlib import sha256
from pathlib import Path

from stanchion.runtime.answers import repository
from tests.decisions.near_misses import WRITTEN, befall
from tests.decisions.seen import Seen
from tests.decisions.test_two_ways import PAIRS
from tests.decisions.ways import Session
from tools.decisions.place import settled


def main() -> None:
    """Print sessions, ways and parts with the hash of what is seen."""
    repository.WAITED_S = 60  # type: ignore[misc] # however busy the machine is, it is waited for
    ways = {pair.other.name: pair.other for pair in PAIRS}
    sessions = [*[Session(case, close=True) for case in WRITTEN], *befall()]
    with settled(), tempfile.TemporaryDirectory() as folder:
        pairs = itertools.product(sessions, ways.values())
        for number, (session, way) in enumerate(pairs):
            place = Path(folder) / str(number)
            place.mkdir()
            seen = way.play(session, place)
            for part in Seen.__struct_fields__:
                told = sha256(b"\n".join(getattr(seen, part))).hexdigest()
                print(f"{session.case.name} | {way.name} | {part} | {told}")


if __name__ == "__main__":
    main()
